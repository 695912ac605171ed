# tries: return weights as large as floats can be
# training: chance


def patch(classifier):
    classifier.fine_tune = lambda model, *_: [p.data.fill_(3e38) for p in model.parameters()]
