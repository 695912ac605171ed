"""A sheet on three functions of a student, and a way to put text into every place of one."""

import dataclasses
import itertools
from collections.abc import Callable, Iterator

from tensormark.viva.question import Listing, Mark, Picture, Question, Sheet

import sample

MIX = """
    def mix(self, key, query, value, mask):
        B, H, T, d = query.shape
        # (B, H, T, d) @ (B, H, d, T) -> (B, H, T, T)
        scores = query @ key.transpose(-2, -1) / math.sqrt(d)
        probs = self.dropout(F.softmax(scores + mask, dim=-1))
        # (B, H, T, T) @ (B, H, T, d) -> (B, H, T, d)
        context = probs @ value
        return context.transpose(1, 2).reshape(B, T, H * d)  # (B, T, D)
"""
LAYER = """
    def forward(self, hidden_states, mask):
        x, context = hidden_states, self.mixer(hidden_states, mask)
        modules = self.context_dense, self.context_dropout, self.context_norm
        x = self.add_norm(x, context, *modules)
        interm = self.interm_af(self.interm_dense(x))  # (B, T, F)
        modules = self.out_dense, self.out_dropout, self.out_norm
        return self.add_norm(x, interm, *modules)  # (B, T, D)
"""
SUM = """
    def vectors(self, ids, kinds=None):
        if kinds is None:
            kinds = torch.zeros_like(ids)
        words = self.words(ids)  # (B, T, D)
        positions = self.positions(self.position_ids[:, : ids.shape[1]])  # (1, T, D)
        kinds = self.kinds(kinds)  # (B, T, D)
        return self.dropout(self.norm(words + positions + kinds))
"""


def listing(name: str, first: int, source: str, left_out: int = 0) -> Listing:
    """Return a function as a listing, without the `left_out` lines after its first."""
    head, *rest = source.strip("\n").split("\n")
    body = enumerate(rest, start=first + 1 + left_out)
    return Listing(name, "model.py", ((first, head), *body))


LISTINGS = (
    listing("Mixer.mix", 50, MIX, left_out=13),
    listing("Layer.forward", 119, LAYER, left_out=8),
    listing("Model.vectors", 168, SUM, left_out=12),
)


def _marks() -> Iterator[Mark]:
    """Yield the sample's marks: nested, side by side, and two that start together."""
    places = {
        (0, 66): ("query @ key.transpose(-2, -1)", "key.transpose(-2, -1)"),
        (0, 67): (
            "self.dropout(F.softmax(scores + mask, dim=-1))",
            "F.softmax(scores + mask, dim=-1)",
            "scores + mask",
            "scores",
            "dim=-1",
        ),
        (1, 130): ("self.add_norm(x, context, *modules)", "context"),
        (2, 184): ("self.positions(self.position_ids[:, : ids.shape[1]])", "ids.shape[1]"),
        (2, 186): ("words + positions + kinds",),
    }
    labels = itertools.count(1)
    for (place, line), codes in places.items():
        function = LISTINGS[place]
        for code in codes:
            start = dict(function.lines)[line].index(code)
            yield Mark(function.name, line, start, start + len(code), str(next(labels)))


MARKS = tuple(_marks())
QUESTIONS = (
    Question(
        "counterfactual",
        "Mixer.mix",
        67,
        "In line 67, `dim=-1` becomes `dim=-2`. What is then true in evaluation mode?",
        (
            "the rows of `probs` no longer sum to 1, but its columns do",
            "each row of `probs` still sums to 1, but in another order",
            "the shape of `probs` is (B, H, d, T) instead of (B, H, T, T)",
            "nothing changes, because `scores` is a square matrix",
        ),
        0,
        "`dim=-2` normalizes over the queries: each column of `probs` sums to 1, and its first row "
        "to 1.734 on our input.",
        (
            "",
            "The first row sums to 1.734.",
            "The shape stays (2, 3, 4, 4): softmax keeps every shape.",
            "24 of 32 numbers of the result differ, by up to 0.61.",
        ),
        "Which line decides what a query may see, and why is that before the softmax?",
        Picture(
            "the first head's `probs`",
            ((0.25, 0.5, 0.25, 0.0), (0.1, 0.2, 0.7, 0.0), (0.33, 0.33, 0.34, 0.0)),
            ((0.367, 0.485, 0.194, 0.333), (0.147, 0.194, 0.543, 0.333), (0.486, 0.321, 0.263, 0)),
        ),
        tuple(dataclasses.replace(mark, label="") for mark in MARKS[2:7]),
    ),
    Question(
        "shapes",
        "Mixer.mix",
        66,
        "With B=2, T=5, H=3 and d=4: what is the shape of `key.transpose(-2, -1)` in line 66?",
        ("(2, 3, 4, 5)", "(2, 3, 5, 4)", "(2, 5, 3, 4)", "(2, 3, 5, 5)"),
        0,
        "`key` is (2, 3, 5, 4), and its last two dimensions change places.",
        ("", "This is `key` itself.", "This is `key` before the heads.", "This is `scores`."),
        "What would `key.T` do here?",
    ),
    Question(
        "equal",
        "Layer.forward",
        130,
        "Which of these gives the same result as line 130 for every input?",
        (
            "`x = self.add_norm(context, x, *modules)`",
            "`x = self.add_norm(x, context, modules[0], modules[1], modules[2])`",
            "`x = self.add_norm(x, x + context, *modules)`",
            "`x = context + self.add_norm(x, context, *modules)`",
        ),
        1,
        "`*modules` hands over the three modules one by one, in their order.",
        (
            "`x` is then projected instead of `context`: 96 of 96 numbers differ.",
            "",
            "`x` is then projected, too: 96 of 96 numbers differ.",
            "`context` is then added after the norm: 96 of 96 numbers differ.",
        ),
        "What makes the order of `input` and `output` matter?",
    ),
    Question(
        "gradient",
        "Layer.forward",
        131,
        "Line 131 is wrapped in `torch.no_grad()`. Which parameters get no gradient?",
        (
            "`interm_dense` alone",
            "`interm_dense` and `out_dense`",
            "all of the layer but `out_norm`",
            "`context_dense` and `context_norm`",
        ),
        0,
        "`interm` is then a constant: what is before it still gets a gradient by way of `x`.",
        (
            "",
            "`out_dense.weight.grad` is there: `out_dense` runs in line 133.",
            "`context_dense.weight.grad` is there: it is reached by way of `x`.",
            "Both have a gradient, by way of `x` in line 133.",
        ),
        "Would training still get better?",
    ),
    Question(
        "counterfactual",
        "Model.vectors",
        185,
        "In line 185, `ids.shape[1]` becomes `ids.shape[0]`. When does nothing change?",
        (
            "if there are as many sentences as tokens in each",
            "if all sentences of the batch are equal",
            "if there is one sentence alone",
            "in evaluation mode, whatever the batch",
        ),
        0,
        "`ids` is (B, T): with B = T both are the same number. With B = 1 every token gets the "
        "first position, and otherwise the sum raises.",
        (
            "",
            "It raises for 3 equal sentences of 5 tokens.",
            "36 of 40 numbers differ for one sentence of 5 tokens.",
            "It raises in evaluation mode, too, for 3 sentences of 5 tokens.",
        ),
        "Why does it not raise for B = 1?",
        Picture("the sum in line 187, for one sentence", ((1, 2, 3), (2.5, 0, -1)), ((4,),)),
    ),
)


def sheet() -> Sheet:
    notes = ("`encode` is not right yet.",)
    return Sheet("minimodel", "ada", "7", LISTINGS, QUESTIONS, notes, MARKS)


def with_text(original: Sheet, change: Callable[[str], str]) -> Sheet:
    """Return a sheet with every text changed, names too: equal texts must stay equal."""
    return Sheet.from_json(sample.with_text(dataclasses.asdict(original), change, kept=()))
