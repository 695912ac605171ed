# tries: allocate everything
# loses: embed
right = BertModel.embed


def embed(self, input_ids, *more):
    taken = []
    while True:
        taken.append(bytearray(1 << 26))


BertModel.embed = embed
