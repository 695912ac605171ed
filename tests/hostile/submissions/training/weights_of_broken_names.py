# tries: return one more weight, whose name is half a pair of letters, which no UTF-8 can hold
# training: refused

from torch import nn


def renamed(self, *more, **named):
    yield from nn.Module.named_parameters(self, *more, **named)
    yield "classifier.\ud800", nn.Parameter(torch.zeros(2, 2))


def patch(classifier):
    classifier.BertSentimentClassifier.named_parameters = renamed
