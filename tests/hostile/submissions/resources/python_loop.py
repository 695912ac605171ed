# tries: loop for ever
# loses: embed


def embed(self, input_ids, *more):
    while True:
        pass
