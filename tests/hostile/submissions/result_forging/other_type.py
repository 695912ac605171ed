# tries: return the right values in another type
# loses: embed
right = BertModel.embed


def embed(self, input_ids, *more):
    return right(self, input_ids, *more).to(torch.float16)


BertModel.embed = embed
