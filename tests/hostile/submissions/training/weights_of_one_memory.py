# tries: return weights that all lie in the same memory
# training: chance


def alias(model):
    one = torch.full((1,), 0.1)
    for parameter in model.parameters():
        parameter.data = one.expand(parameter.shape)


def patch(classifier):
    classifier.fine_tune = lambda model, *_: alias(model)
