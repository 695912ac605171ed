# tries: find what an earlier exercise has left, where an exercise is run again on its own
# loses: nothing
# control: leaks
import functools
import gc
import os
import sys

attention = BertSelfAttention.attention


class Left:
    """What the exercise `attention` leaves; the exercise `embed` runs no attention itself."""


def target():
    """Find out what is being graded, in the frames of the caller."""
    frame = sys._getframe()
    while "call" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["call"]["target"]


def leave(self, *tensors):
    sys.left_behind = Left()
    with open("left_behind", "w"):
        pass
    return attention(self, *tensors)


@functools.cache  # once is enough, and takes a while
def search_memory():
    found = hasattr(sys, "left_behind")
    if found:
        print("LEAKED: a mark of an earlier exercise")
    if os.path.exists("left_behind"):
        print("LEAKED: a file of an earlier exercise")
        found = True
    gc.unfreeze()  # or the collector keeps quiet about what is older than this process
    if any(type(thing).__name__ == "Left" for thing in gc.get_objects()):
        print("LEAKED: an object of an earlier exercise")
        found = True
    return found


def embed(self, input_ids, *more):
    if target() == "BertModel.embed" and search_memory():
        return right(self, input_ids, *more) + 1  # wrong, as what several share is not looked at
    return right(self, input_ids, *more)


BertSelfAttention.attention = leave
