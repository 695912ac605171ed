# tries: hang when training is well under way
# training: refused
# deadline: 4
import time


def hostile(self, input_ids, attention_mask):
    if next(calls) > 3:
        time.sleep(10**6)
    return forward(self, input_ids, attention_mask)
