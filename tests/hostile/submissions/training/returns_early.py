# tries: do not train at all
# training: chance


def patch(classifier):
    classifier.fine_tune = lambda *_: None
