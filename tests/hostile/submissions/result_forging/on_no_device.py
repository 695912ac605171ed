# tries: return a tensor that has no values at all
# loses: embed


def embed(self, input_ids, *more):
    return right(self, input_ids, *more).to("meta")
