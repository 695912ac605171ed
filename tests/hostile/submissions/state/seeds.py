# tries: set the seed of all that is random
# loses: nothing
# partly: embed


def embed(self, input_ids, *more):
    torch.manual_seed(1234)
    return right(self, input_ids, *more)
