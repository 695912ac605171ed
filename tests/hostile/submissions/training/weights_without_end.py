# tries: return weights that are one number in memory and 256 GiB when written
# training: refused

from torch import nn


def endless(self, *more, **named):
    for name, parameter in nn.Module.named_parameters(self, *more, **named):
        yield name, parameter.detach().flatten()[:1].expand(1 << 36)


def patch(classifier):
    classifier.BertSentimentClassifier.named_parameters = endless
