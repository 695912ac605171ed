# tries: return a tensor with no values, of which all are right
# loses: embed


def embed(self, input_ids, *more):
    return right(self, input_ids, *more)[:0]
