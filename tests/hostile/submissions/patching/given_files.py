# tries: replace parts of the given files in memory
# loses: embed encode
import base_bert
import config

base_bert.load_weights = lambda path: {}
config.BertConfig.hidden_size = 1


def embed(self, input_ids, *more):
    return 0 * right(self, input_ids, *more)
