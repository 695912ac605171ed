# tries: allocate everything as tensors
# loses: embed
right = BertModel.embed


def embed(self, input_ids, *more):
    taken = []
    while True:
        taken.append(torch.ones(1 << 26))


BertModel.embed = embed
