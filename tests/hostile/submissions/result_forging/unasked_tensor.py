# tries: answer right, with one tensor more, that says of itself that it is huge
# loses: embed
import json


def forged(message, tensors=None):
    frame = encode(message, tensors)
    end = 8 + int.from_bytes(frame[:8], "little")
    message, entries = json.loads(frame[8:end])
    entries["out/more"] = {"dtype": "F64", "shape": [1 << 60], "data_offsets": [0, 1 << 63]}
    return packed(message, entries, frame[end:])
