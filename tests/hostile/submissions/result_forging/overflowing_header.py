# tries: leave safetensors whose header promises more than there is
# loses: embed
import os


def embed(self, input_ids, *more):
    entry = {"dtype": "F32", "shape": [1 << 32, 1 << 32], "data_offsets": [0, 8]}
    message = {"number": 1, "status": "ok"}
    reply_buffer().write(1, packed(message, {"out/output": entry}, bytes(8)))
    os._exit(0)
