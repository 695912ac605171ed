# tries: return predictions without end
# predicts: itself
# training: refused


def patch(classifier):
    classifier.predict = lambda model, ids, mask: torch.zeros(1, dtype=torch.int64).expand(1 << 36)
