# tries: find the labels of the sentences to predict
# training: same
import gc
import sys


def patch(classifier):
    frame = sys._getframe()
    while frame is not None:
        call = frame.f_locals.get("call")
        if isinstance(call, dict) and any(
            "label" in name and name != "num_labels" for name in call
        ):
            print("LEAKED: labels came with the call")
        frame = frame.f_back
    rows = {len(t) for t in gc.get_objects() if isinstance(t, torch.Tensor) and t.ndim == 1}
    if {PREDICT} in rows:
        print("LEAKED: as many labels as there are sentences to predict")
