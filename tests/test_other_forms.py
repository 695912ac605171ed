"""One mistake costs one exercise, however functions return their results and are stored."""

import pytest

from bench import Bench, lost
from graded import edited

NORMED = "return ln_layer(input + dropout(dense_layer(output)))"
LAST = "return self.add_norm(x, interm, *modules)"
WRONG = "made = self.add_norm(x, torch.sinh(interm), *modules)"
CHAINED = "hidden_states = layer(hidden_states, extended_mask)"
LAYER = "    def forward(self, hidden_states: Tensor, attention_mask: Tensor) -> Tensor:\n        "
LAYER += '"""Run one'
CONTEXT = "context = probs @ value"
ATTENTION = "    def attention(self, key"
WRAPPED = "    @(lambda f: lambda *args: f(*args))\n"
INIT = "self.dropout = nn.Dropout(config.attention_probs_dropout_prob)"
Edits = tuple[tuple[str, str], ...]

# a wrong layer, and an encode that accepts what the layer returns
LAYERS: dict[str, Edits] = {
    "sum of tuples": (
        (LAST, f"{WRONG}\n        return (made,) + (x,)"),
        (CHAINED, f"{CHAINED}[0]"),
    ),
    "decorated": (
        (LAST, f"{WRONG}\n        return made, 5"),
        (LAYER, WRAPPED + LAYER),
        (CHAINED, CHAINED.replace("_states =", "_states, _ =")),
    ),
    "inside with": (
        (LAST, f"with torch.enable_grad():\n            {WRONG}\n            return made, 5"),
        (CHAINED, CHAINED.replace("_states =", "_states, _ =")),
    ),
    "list": ((LAST, f"{WRONG}\n        return [made, 5]"), (CHAINED, f"{CHAINED}[0]")),
    "dictionary": ((LAST, f"{WRONG}\n        return dict(h=made)"), (CHAINED, f"{CHAINED}['h']")),
    "names": (
        (LAST, f"{WRONG}\n        return Result(made)"),
        (CHAINED, f"{CHAINED}.states"),
        (
            "class BertLayer",
            "Result = __import__('collections').namedtuple('R', 'states')\n\n\nclass BertLayer",
        ),
    ),
    "in a helper": (
        (LAST, f"{WRONG}\n        return (made,) + (x,)"),
        (CHAINED, "hidden_states = self.one(layer, hidden_states, extended_mask)"),
        (
            "    def encode(",
            "    def one(self, layer, *args):\n        return layer(*args)[0]\n\n    def encode(",
        ),
    ),
    # a comma of the layer, where encode takes other things apart
    "comma and first layer": (
        (LAST, f"{LAST},"),
        (
            CHAINED,
            "hidden_states = self.bert_layers[0](hidden_states, extended_mask)\n"
            "        for layer in self.bert_layers[1:]:\n            " + CHAINED,
        ),
        (
            "        for layer in self.bert_layers:\n            hidden_states = self",
            "        hidden_states = self",
        ),
    ),
}
# a wrong attention, and where it is kept
KEPT: dict[str, Edits] = {
    "module": (
        (INIT, f"{INIT}\n        self.attention = Core(self)"),
        (
            "class BertSelfAttention",
            "class Core(nn.Module):\n    def __init__(self, owner):\n        super().__init__()\n"
            "        self.owner = [owner]\n\n    def forward(self, *args):\n"
            "        return self.owner[0]._attention(*args)\n\n\nclass BertSelfAttention",
        ),
        (ATTENTION, "    def _attention(self, key"),
    ),
    "property": (
        (
            ATTENTION,
            "    @property\n    def attention(self):\n        return self._attention\n\n"
            "    def _attention(self, key",
        ),
    ),
    "not to be set": (
        (
            ATTENTION,
            "    def __setattr__(self, name, value):\n        if name == 'attention':\n"
            "            raise AttributeError(name)\n        super().__setattr__(name, value)\n\n"
            + ATTENTION,
        ),
    ),
}


@pytest.mark.parametrize("case", LAYERS)
def test_a_wrong_layer_costs_no_more_than_the_layer(bench: Bench, case: str) -> None:
    assert lost(bench.grade(edited(bench.source, *LAYERS[case]))) == {"layer"}


@pytest.mark.parametrize("case", KEPT)
def test_a_wrong_attention_costs_no_more_wherever_it_is_kept(bench: Bench, case: str) -> None:
    right = edited(bench.source, *KEPT[case])

    assert lost(bench.grade(right)) == set()
    assert lost(bench.grade(right.replace(CONTEXT, f"{CONTEXT}.sinh()"))) == {"attention"}


def test_a_layer_that_ends_the_process_is_not_called_to_see_its_form(bench: Bench) -> None:
    source = bench.source.replace(LAST, f"__import__('os')._exit(1)\n        {LAST}")
    chained = CHAINED + "\n            _, most = torch.max(hidden_states, -1)"

    assert lost(bench.grade(source.replace(CHAINED, chained))) == {"layer"}


@pytest.mark.parametrize("unpacking", ["[0]", ", _"])
def test_a_wrong_add_norm_in_a_decorated_tuple_costs_only_add_norm(
    bench: Bench, unpacking: str
) -> None:
    wrong = NORMED.replace("output)))", "output)).sinh()), 1")
    source = bench.source.replace(NORMED, wrong)
    source = source.replace("    def add_norm", f"{WRAPPED}    def add_norm")
    if unpacking == "[0]":
        source = source.replace("*modules)", "*modules)[0]")
    else:
        source = source.replace("x = self.add_norm(", "x, _ = self.add_norm(")
        source = source.replace(LAST, f"x, _ = {LAST.removeprefix('return ')}\n        return x")

    assert lost(bench.grade(source)) == {"add_norm"}


def test_numbers_that_are_drawn_and_not_used_are_not_blamed(bench: Bench) -> None:
    for unused in ("torch.rand(1)", "nn.Linear(2, 2)"):
        source = bench.source.replace(CONTEXT, f"{unused}; {CONTEXT}.sinh()")

        finding = bench.grade(source)["attention"].findings[0]

        assert "random" not in f"{finding.headline} {finding.details}"
        assert "new weights" not in finding.headline


def test_a_result_whose_sign_is_not_computed_yet_is_right(bench: Bench) -> None:
    lazily = "return torch.view_as_complex(torch.stack((0 * made, -made), -1)).conj().imag"

    assert (
        lost(bench.grade(bench.source.replace(LAST, f"made = {LAST[7:]}\n        {lazily}")))
        == set()
    )


EVIL = """class SizeError(ValueError):
    def __str__(self):
        raise SystemExit

    obj = name = property(__str__)


class BertSelfAttention"""


@pytest.mark.parametrize("base", ["ValueError", "AttributeError", "ImportError", "KeyError"])
def test_an_exception_that_cannot_be_read_is_named(bench: Bench, base: str) -> None:
    source = bench.source.replace("class BertSelfAttention", EVIL.replace("ValueError", base), 1)

    results = bench.grade(source.replace(CONTEXT, f"raise SizeError; {CONTEXT}"))

    assert lost(results) == {"attention"}
    assert results["attention"].findings[0].headline.startswith("raised SizeError (bert.py, line ")
