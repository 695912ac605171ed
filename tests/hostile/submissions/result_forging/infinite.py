# tries: return infinite values
# loses: embed


def embed(self, input_ids, *more):
    return right(self, input_ids, *more) + float("inf")
