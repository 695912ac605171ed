"""Whether a function takes apart the results of its calls is read from its source."""

import textwrap
from types import ModuleType, SimpleNamespace

import pytest

from tensormark.worker.stand_ins import takes_apart

APART = [
    "x, _ = layer(x)",
    "held = layer(x); first, *_ = held",
    "x = layer(x)[0]",
    "x = layer(x)[-1]",
    "held = layer(x); x = held[0]",
    "x = layer(x)['states']",
    "held = layer(x); x = held.states",
    "x = (lambda: layer(x)[0])()",
    "x = (held := layer(x))[0]",
    "x = self.helper(layer, x)",
]
WHOLE = [
    "x = layer(x)",
    "x = layer(x)[:, 0]; x = layer(x)[:2]",
    "rows, columns = x.size(); held = x.size(); first = x.size()[0]",
    "rows, columns = layer(x).shape; rows = layer(x).shape[0]",
    "x = layers[0](x); a, b, c, d = 0, 0, 1, len(layers)",
    "kinds = (1, 2); x = layers[kinds[0]](x); x = layer(x).transpose(1, 2)",
]


def module(statements):
    """Return a model whose `encode` has these statements, with the source that an importer has."""
    helper = "layer(x)[0]" if "helper" in statements else "x"
    text = f"""
    class Model:
        def encode(self, layers, layer, x):
            {statements}
            return x

        def helper(self, layer, x):
            return {helper}

    def alone(layer, x):
        x = layer(x)
        return x
    """
    loader = SimpleNamespace(get_source=lambda name: textwrap.dedent(text))
    made = ModuleType("model")
    made.__spec__ = SimpleNamespace(name="model", loader=loader)
    return made


@pytest.mark.parametrize("statements", [*APART, *WHOLE])
def test_a_method_that_takes_a_result_apart_is_recognised(statements):
    assert takes_apart(module(statements), "Model.encode") is (statements in APART)
    assert takes_apart(module(statements), "alone") is False


def test_a_function_without_source_is_not_judged():
    assert takes_apart(module("pass"), "Model2.encode") is None
    assert takes_apart(ModuleType("empty"), "Model.encode") is None
