# tries: list a thousand tensors that are all the same megabyte
# loses: embed
import os


def embed(self, input_ids, *more):
    space = reply_buffer().space - (128 << 10)
    entry = {"dtype": "F32", "shape": [space // 4], "data_offsets": [0, space // 4 * 4]}
    tensors = packed({f"grad/{n}": entry for n in range(1000)}, bytes(space // 4 * 4))
    reply_buffer().write(1, framed(b'{"number":1,"status":"ok"}', tensors))
    os._exit(0)
