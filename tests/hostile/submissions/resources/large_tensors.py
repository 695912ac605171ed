# tries: allocate everything as tensors
# loses: embed


def embed(self, input_ids, *more):
    taken = []
    while True:
        taken.append(torch.ones(1 << 26))
