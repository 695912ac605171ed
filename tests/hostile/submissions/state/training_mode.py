# tries: switch the model to eval mode for those who come after
# loses: nothing
# partly: embed


def embed(self, input_ids, *more):
    self.eval()
    return right(self, input_ids, *more)
