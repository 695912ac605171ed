# tries: allocate everything
# loses: embed


def embed(self, input_ids, *more):
    taken = []
    while True:
        taken.append(bytearray(1 << 26))
