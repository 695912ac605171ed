# tries: answer with 10,000 tensors that nobody asked for
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
    entry = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
    entries = {f"out/{n}": entry for n in range(10_000)}
    return frame(json.dumps(message).encode(), packed(entries, bytes(4)))


def embed(self, input_ids, *more):
    protocol.encode = forged
    return right(self, input_ids, *more)


BertModel.embed = embed
