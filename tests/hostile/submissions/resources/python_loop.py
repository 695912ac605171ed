# tries: loop for ever
# loses: embed
right = BertModel.embed


def embed(self, input_ids, *more):
    while True:
        pass


BertModel.embed = embed
