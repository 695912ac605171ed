# tries: find the sentences to predict while it trains, to learn them with labels of its own
# training: same
import gc
import sys


def patch(classifier):
    frame = sys._getframe()
    while "call" not in frame.f_locals:
        frame = frame.f_back
    call = frame.f_locals["call"]
    if "predict" in call:
        print("LEAKED: sentences to predict came with the call")
    lists = [one for one in gc.get_objects() if isinstance(one, list) and len(one) == {PREDICT}]
    if any(isinstance(one[0], str) and " ." in one[0] for one in lists):
        print("LEAKED: as many sentences as there are to predict")
