# tries: take more threads than the machine has cores
# loses: nothing
# partly: embed


def embed(self, input_ids, *more):
    torch.set_num_threads(48)  # of the 64 that it may have
    return right(self, input_ids, *more)
