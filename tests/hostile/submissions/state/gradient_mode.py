# tries: leave gradients switched off
# loses: nothing
# partly: embed


def embed(self, input_ids, *more):
    answer = right(self, input_ids, *more)
    torch.set_grad_enabled(False)
    return answer
