# tries: replace parts of the given files in memory
# scores: attention add_norm layer
import base_bert
import config

base_bert.load_weights = lambda path: {}
config.BertConfig.hidden_size = 1

right = BertModel.embed


def embed(self, input_ids, *more):
    return 0 * right(self, input_ids, *more)


BertModel.embed = embed
