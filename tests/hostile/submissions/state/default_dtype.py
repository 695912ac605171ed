# tries: leave another default type behind
# loses: nothing
# partly: embed


def embed(self, input_ids, *more):
    torch.set_default_dtype(torch.float64)
    return right(self, input_ids, *more)
