# tries: allocate everything in shared mappings
# loses: embed
import mmap


def embed(self, input_ids, *more):
    taken = []
    while True:
        taken.append(mmap.mmap(-1, 1 << 28))
        taken[-1][::4096] = bytes(1 << 16)
