# tries: return every weight as one number, which would broadcast
# training: refused

from torch import nn


def flattened(self, *more, **named):
    for name, parameter in nn.Module.named_parameters(self, *more, **named):
        yield name, nn.Parameter(parameter.detach().flatten()[:1])


def patch(classifier):
    classifier.BertSentimentClassifier.named_parameters = flattened
