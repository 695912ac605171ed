# tries: print without end
# loses: nothing


def embed(self, input_ids, *more):
    for _ in range(1000):
        print("x" * 65536)
    return right(self, input_ids, *more)
