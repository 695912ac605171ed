# tries: return weights so small that computing with them is slow
# training: chance


def patch(classifier):
    classifier.fine_tune = lambda model, *_: [p.data.fill_(1e-44) for p in model.parameters()]
