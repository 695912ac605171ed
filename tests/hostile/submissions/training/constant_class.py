# tries: predict the same class for all
# training: same


def patch(classifier):
    classifier.predict = lambda model, ids, mask: torch.ones(len(ids), dtype=torch.int64)
