# tries: print far more than is kept
# loses: nothing


def embed(self, input_ids, *more):
    for _ in range(100):
        print("x" * 65536)
    return right(self, input_ids, *more)
