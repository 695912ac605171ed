# tries: take a little too long for each step
# training: refused
# deadline: 4
import time


def hostile(self, input_ids, attention_mask):
    if next(calls) > 2:
        time.sleep(0.5)
    return forward(self, input_ids, attention_mask)
