# tries: return complex numbers
# loses: embed


def embed(self, input_ids, *more):
    return torch.complex(0 * (x := right(self, input_ids, *more)), x)
