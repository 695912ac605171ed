# tries: answer right, with one tensor more, that says of itself that it is huge
# loses: embed
import json


def forged(message, tensors=None):
    message, packed_tensors = json.dumps(message).encode(), encode(message, tensors)
    *_, length = protocol.HEADER.unpack(packed_tensors[: protocol.HEADER.size])
    body = packed_tensors[-length:] if length else packed({}, b"")
    end = 8 + int.from_bytes(body[:8], "little")
    entries = json.loads(body[8:end])
    entries["out/more"] = {"dtype": "F64", "shape": [1 << 60], "data_offsets": [0, 1 << 63]}
    return framed(message, packed(entries, body[end:]))
