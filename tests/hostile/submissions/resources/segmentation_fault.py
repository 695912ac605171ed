# tries: read address 0
# loses: embed
import ctypes


def embed(self, input_ids, *more):
    ctypes.string_at(0)
