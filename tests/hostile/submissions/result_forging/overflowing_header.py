# tries: leave safetensors whose header promises more than there is
# loses: embed
import os


def embed(self, input_ids, *more):
    entry = {"dtype": "F32", "shape": [1 << 32, 1 << 32], "data_offsets": [0, 8]}
    tensors = packed({"out/output": entry}, bytes(8))
    reply_buffer().write(1, framed(b'{"number":1,"status":"ok"}', tensors))
    os._exit(0)
