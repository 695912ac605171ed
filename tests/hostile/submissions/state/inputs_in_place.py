# tries: change its inputs where they lie
# scores: attention add_norm layer encode
right = BertModel.embed


def embed(self, input_ids, *more):
    answer = right(self, input_ids, *more)
    input_ids.zero_()
    return answer


BertModel.embed = embed
