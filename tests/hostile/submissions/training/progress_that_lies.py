# tries: claim more progress than there are steps, and less than none
# training: same
import sys


def hostile(self, input_ids, attention_mask):
    frame = sys._getframe()
    while "buffer" not in frame.f_locals:
        frame = frame.f_back
    for claim in (2**64 - 1, 0, 2**63 + next(calls)):
        for place in (0, 8, 16):  # calls begun, steps done, steps in all
            frame.f_locals["buffer"].put(place, claim)
    return forward(self, input_ids, attention_mask)
