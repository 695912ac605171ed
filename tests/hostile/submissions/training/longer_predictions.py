# tries: return more predictions than there are sentences
# predicts: itself
# training: refused


def patch(classifier):
    classifier.predict = lambda model, ids, mask: torch.ones(10 * len(ids), dtype=torch.int64)
