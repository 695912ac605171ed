# tries: make the loss NaN in the middle of training
# training: refused


def hostile(self, input_ids, attention_mask):
    scale = float("nan") if next(calls) > 3 else 1.0
    return {name: value * scale for name, value in forward(self, input_ids, attention_mask).items()}
