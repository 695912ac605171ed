# tries: return the right values in another type
# loses: embed


def embed(self, input_ids, *more):
    return right(self, input_ids, *more).to(torch.float16)
