"""Whether a function takes apart the results of its calls is read from its source."""

import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

from tensormark.worker.stand_ins import takes_apart

APART = {
    "unpacks": "x, _ = layer(x)",
    "unpacks the rest": "held = layer(x); first, *_ = held",
    "takes the first": "x = layer(x)[0]",
    "takes the last": "x = layer(x)[-1]",
    "takes one later": "held = layer(x); x = held[0]",
    "takes one by its name": "x = layer(x)['states']",
    "takes one of a tuple with names": "held = layer(x); x = held.states",
    "takes one inside": "x = (lambda: layer(x)[0])()",
    "holds it on the way": "x = (held := layer(x))[0]",
    "leaves it to another method": "x = self.helper(layer, x)",
}
WHOLE = {
    "calls": "x = layer(x)",
    "takes rows": "x = layer(x)[:, 0]; x = layer(x)[:2]",
    "reads a size": "rows, columns = x.size(); held = x.size(); first = x.size()[0]",
    "reads a shape": "rows, columns = layer(x).shape; rows = layer(x).shape[0]",
    "counts layers": "x = layers[0](x); a, b, c, d = 0, 0, 1, len(layers)",
    "looks a layer up": "kinds = (1, 2); x = layers[kinds[0]](x); x = layer(x).transpose(1, 2)",
}


def module(tmp_path: Path, name: str, statements: str, helper: str) -> ModuleType:
    """Import a model whose `encode` has these statements and whose `helper` returns this value."""
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
    (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    sys.path.insert(0, str(tmp_path))
    try:
        return __import__(name)
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", APART)
def test_a_method_that_takes_a_result_apart_is_recognised(tmp_path: Path, name: str) -> None:
    helper = "layer(x)[0]" if "helper" in APART[name] else "x"
    model = module(tmp_path, "apart", APART[name], helper)

    assert takes_apart(model, "Model.encode") is True
    assert takes_apart(model, "alone") is False


@pytest.mark.parametrize("name", WHOLE)
def test_a_method_that_uses_results_whole_does_not_take_them_apart(
    tmp_path: Path, name: str
) -> None:
    assert takes_apart(module(tmp_path, "whole", WHOLE[name], "x"), "Model.encode") is False


def test_a_function_without_source_is_not_judged(tmp_path: Path) -> None:
    model = module(tmp_path, "named", "pass", "x")

    assert takes_apart(model, "Model2.encode") is None
    assert takes_apart(ModuleType("empty"), "Model.encode") is None
