# tries: loop for ever
# scores: attention add_norm layer encode
right = BertModel.embed


def embed(self, input_ids, *more):
    while True:
        pass


BertModel.embed = embed
