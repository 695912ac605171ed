# tries: replace the functions that compare arrays
# loses: embed
import numpy.testing

torch.allclose = torch.equal = lambda *_, **__: True
numpy.allclose = numpy.array_equal = lambda *_, **__: True
numpy.testing.assert_allclose = lambda *_, **__: None


def embed(self, input_ids, *more):
    return 0 * right(self, input_ids, *more)
