# tries: return probabilities of both classes in place of predictions
# predicts: itself
# training: refused


def patch(classifier):
    classifier.predict = lambda model, ids, mask: torch.full((len(ids), 2), 0.5)
