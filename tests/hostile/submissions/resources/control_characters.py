# tries: print bad UTF-8, NUL and terminal escapes, and one endless line
# loses: nothing
import os
import sys


def embed(self, input_ids, *more):
    os.write(1, b"\x1b]0;owned\x07\x1b[2J\xff\xfe\x00\r" * 100)
    sys.stderr.write("\u202e\x9b31m" * 1000)
    os.write(2, b"y" * (1 << 20))
    return right(self, input_ids, *more)
