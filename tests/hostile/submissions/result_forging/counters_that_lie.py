# tries: claim that all calls are begun, again and again, and take for ever
# loses: embed
import sys

BEGUN = 0  # where the number of calls begun stands


def reply_buffer():
    """Find the memory for answers in the frames of the caller."""
    frame = sys._getframe()
    while frame is not None:
        if "answered" in frame.f_locals:
            return frame.f_locals["answered"]
        frame = frame.f_back
    raise LookupError


right = BertModel.embed


def embed(self, input_ids, *more):
    memory = reply_buffer()
    while True:
        for number in range(1, 9):
            memory.put(BEGUN, number)


BertModel.embed = embed
