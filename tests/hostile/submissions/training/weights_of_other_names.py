# tries: return a layer more than the model has, and one under another name
# training: refused

from torch import nn


def renamed(self, *more, **named):
    yield from nn.Module.named_parameters(self, *more, **named)
    yield "classifier.../more", nn.Parameter(torch.zeros(2, 2))


def patch(classifier):
    classifier.BertSentimentClassifier.named_parameters = renamed
