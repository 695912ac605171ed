# tries: say that there is no more to come, before there is anything
# loses: embed
import sys
import time

FINISHED = 24  # where that is said


def reply_buffer():
    """Find the memory for answers in the frames of the caller."""
    frame = sys._getframe()
    while frame is not None:
        if "answered" in frame.f_locals:
            return frame.f_locals["answered"]
        frame = frame.f_back
    raise LookupError


def embed(self, input_ids, *more):
    reply_buffer().put(FINISHED, 1)
    time.sleep(1000)


BertModel.embed = embed
