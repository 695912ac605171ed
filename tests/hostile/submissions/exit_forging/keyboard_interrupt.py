# tries: raise KeyboardInterrupt, as if a person had stopped the grader
# loses: embed
right = BertModel.embed


def embed(self, input_ids, *more):
    raise KeyboardInterrupt


BertModel.embed = embed
