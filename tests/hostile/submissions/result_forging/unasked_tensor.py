# tries: answer right, with one tensor more, that says of itself that it is huge
# loses: embed
import gc
import json

gc.unfreeze()  # it can no longer be imported, but is still among all objects
modules = [m for m in gc.get_objects() if type(m) is type(gc)]
protocol = next(m for m in modules if m.__name__ == "tensormark.worker.protocol")
right, encode = BertModel.embed, protocol.encode


def frame(text, packed=b""):
    return protocol.HEADER.pack(protocol.MAGIC, len(text), len(packed)) + text + packed


def packed(entries, data):
    listed = json.dumps(entries).encode()
    return len(listed).to_bytes(8, "little") + listed + data


def forged(message, tensors=None):
    message, packed_tensors = json.dumps(message).encode(), encode(message, tensors)
    *_, length = protocol.HEADER.unpack(packed_tensors[: protocol.HEADER.size])
    body = packed_tensors[-length:] if length else packed({}, b"")
    end = 8 + int.from_bytes(body[:8], "little")
    entries = json.loads(body[8:end])
    entries["out/more"] = {"dtype": "F64", "shape": [1 << 60], "data_offsets": [0, 1 << 63]}
    return frame(message, packed(entries, body[end:]))


def embed(self, input_ids, *more):
    protocol.encode = forged
    return right(self, input_ids, *more)


BertModel.embed = embed
