"""Masked-language modelling: which tokens are chosen, and what becomes of them.

Ten statistics depend on the draws, and each fails right code less than once in a billion gradings:
all together once in a hundred million. They allow whatever draws tokens independently, and also a
fixed number of tokens in each row, or of tokens with each fate, in a random order.

Dimension key: B batch, T tokens, V vocabulary.
"""

import dataclasses
from typing import Any

import numpy as np

from grader.probes import seeds
from tensormark.toolkit import Call, Tensors, exercise, probe
from tensormark.toolkit.seeds import draw_seeds
from tensormark.toolkit.statistics import Statistic, Statistics, margin

T = 200
SHORTEST = 180  # tokens of a row, [CLS] and [SEP] included
IGNORED = -100
# probabilities of choosing a token
RARELY = 0.15
EVENLY = 0.5
OFTEN = 0.9
# probabilities of what a chosen token becomes; the others are drawn
MASKED = 0.8
KEPT = 0.1


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    """Ids of special tokens, which are nowhere near those of BERT, and how many ids there are.

    Attributes:
        rows: B.
        text: ids below this one are those of the text, so that others can only be drawn.
    """

    rows: int
    size: int
    text: int
    pad: int
    cls: int
    sep: int
    mask: int
    unknown: int

    @property
    def special(self) -> list[int]:
        """The ids that are never chosen."""
        return [self.pad, self.unknown, self.cls, self.sep, self.mask]

    @property
    def ordinary(self) -> np.ndarray:
        """All other ids."""
        return np.setdiff1d(np.arange(self.size), self.special)


LARGE = Vocabulary(rows=50, size=1000, text=1000, pad=417, unknown=3, cls=998, sep=23, mask=640)
SMALL = Vocabulary(rows=20, size=12, text=8, pad=9, unknown=5, cls=7, sep=2, mask=10)
VOCABULARIES = {vocabulary.size: vocabulary for vocabulary in (LARGE, SMALL)}


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw rows of ids: [CLS], tokens, [SEP], padding."""
    vocabulary = VOCABULARIES[call.literals["vocab_size"]]
    text = vocabulary.ordinary[vocabulary.ordinary < vocabulary.text]
    B = vocabulary.rows
    ids = rng.choice(text, (B, T))
    lengths = rng.integers(SHORTEST, T + 1, B)
    ids[:, 0] = vocabulary.cls
    ids[np.arange(B), lengths - 1] = vocabulary.sep
    ids[np.arange(T) >= lengths[:, None]] = vocabulary.pad
    return {"input_ids": ids} | (draw_seeds(rng) if call.kind == "seeds" else {})


ORDINARY = LARGE.rows * (SHORTEST - 2)  # at least this many tokens may be chosen
PAIRS = ORDINARY // 2 - LARGE.rows  # neighbours that both may, at least
FEW = int(OFTEN * ORDINARY * 0.95)  # chosen tokens, at least


def share(truths: np.ndarray) -> float:
    """Return the share of true values; 0 if there are none at all."""
    return float(truths.mean()) if truths.size else 0.0


def dependence(truths: np.ndarray, among: np.ndarray) -> float:
    """Return the correlation of neighbours in a row, of those that both count.

    No token is in two pairs, so that pairs are independent if tokens are. Of n pairs, it is 0 on
    average, with a deviation of 1 / sqrt(n). It is 1 if a row has one draw; 0 if nothing varies.
    """
    both = among[:, :-1:2] & among[:, 1::2]
    first = truths[:, :-1:2][both]
    second = truths[:, 1::2][both]
    varies = first.any() and second.any() and not first.all() and not second.all()
    return float(np.corrcoef(first, second)[0, 1]) if varies else 0.0


def which(outputs: Tensors, inputs: Tensors) -> list[float]:
    """Compute statistics of which tokens were chosen, by their labels."""
    true = inputs["input_ids"]
    labels = outputs["labels"]
    special = np.isin(true, LARGE.special)
    chosen = labels != IGNORED
    return [
        share((labels != true)[chosen]),
        share(chosen[special]),
        share((outputs["input_ids"] != true)[~chosen]),
        share(chosen[~special]),
    ]


def fate(outputs: Tensors, inputs: Tensors) -> list[float]:
    """Compute statistics of what became of the chosen tokens."""
    true = inputs["input_ids"]
    labels = outputs["labels"]
    special = np.isin(true, LARGE.special)
    chosen = (labels != IGNORED) & ~special
    now = outputs["input_ids"][chosen]
    before = true[chosen]
    masked = now == LARGE.mask
    kept = now == before
    drawn = now[~masked & ~kept]
    mean = drawn.mean() / LARGE.size if drawn.size else 0.0
    return [share(chosen[~special]), share(masked), share(kept), mean]


def alone(outputs: Tensors, inputs: Tensors) -> list[float]:
    """Compute how much tokens share draws with their neighbours in a row, and in a column."""
    ordinary = ~np.isin(inputs["input_ids"], LARGE.special)
    chosen = (outputs["labels"] != IGNORED) & ordinary
    masked = outputs["input_ids"] == LARGE.mask
    return [
        dependence(chosen, ordinary),
        dependence(chosen.T, ordinary.T),
        dependence(masked, chosen),
        dependence(masked.T, chosen.T),
    ]


def random_tokens(outputs: Tensors, inputs: Tensors) -> list[float]:
    """Compute statistics of the tokens that were drawn from the small vocabulary."""
    true = inputs["input_ids"]
    now = outputs["input_ids"]
    drawn = (now != true) & (now != SMALL.mask) & (outputs["labels"] != IGNORED)
    equal = [share(ids[:-1:2] == ids[1::2]) for ids in (now[drawn], now.T[drawn.T])]
    return [
        max(equal),
        share((now < 0) | (now >= SMALL.size)),
        share(~np.isin(SMALL.ordinary, now[drawn])),
        float(SMALL.unknown not in now[drawn]),
    ]


def choosing(probability: float, vocabulary: Vocabulary = LARGE) -> dict[str, Any]:
    """Return the fields of a call with this probability."""
    literals = {
        "special_ids": vocabulary.special,
        "mask_token_id": vocabulary.mask,
        "vocab_size": vocabulary.size,
        "probability": probability,
    }
    return {"inputs": f"{vocabulary.size} ids", "literals": literals}


ANY = 0.2  # how far the shares of a mistake may be apart if it draws for whole rows or columns
WHICH = Statistics(
    (
        Statistic("a token has a label other than -100 that is not its true id", 0.0),
        Statistic("special tokens are chosen", 0.0),
        Statistic("tokens without a label are changed", 0.0),
        Statistic("the share of chosen tokens is off", RARELY, margin(ORDINARY, RARELY), ANY),
    ),
    which,
)
FATE = Statistics(
    (
        Statistic("the share of chosen tokens is off", OFTEN, margin(ORDINARY, OFTEN), ANY),
        Statistic("the share of [MASK] among the chosen is off", MASKED, margin(FEW, MASKED)),
        Statistic("the share of chosen tokens that stay is off", KEPT, margin(FEW, KEPT)),
        Statistic(
            "random tokens do not come from the whole vocabulary: mean id as a share of its size",
            0.5,
            margin(FEW // 12),
        ),
    ),
    fate,
)
DEVIATIONS = 6.5  # of a normal distribution, which is as far off once in ten billion
OF_PAIRS = DEVIATIONS / np.sqrt(PAIRS)
OF_CHOSEN = DEVIATIONS / np.sqrt(EVENLY**2 * PAIRS * 0.85)  # pairs that are both chosen, at least
SAME = "is the same for neighbours, as measured by their correlation"
ALONE = Statistics(
    (
        Statistic(f"in a row, the choice {SAME}", 0.0, OF_PAIRS, ANY),
        Statistic(f"in a column, the choice {SAME}", 0.0, OF_PAIRS, ANY),
        Statistic(f"in a row, what becomes of chosen tokens {SAME}", 0.0, OF_CHOSEN, ANY),
        Statistic(f"in a column, what becomes of chosen tokens {SAME}", 0.0, OF_CHOSEN, ANY),
    ),
    alone,
)
ONE_ID = 1 / (SMALL.size - 1)  # an id other than [MASK] is hardly ever missing: exp(-22)
# random tokens that are not the true ones, at least
DRAWN = FEW * SMALL.rows // LARGE.rows // 15
RANDOM = Statistics(
    (
        Statistic(
            "random tokens are equal to their neighbours too often",
            ONE_ID,
            margin(DRAWN // 2, ONE_ID) + 0.01,
        ),
        Statistic("there are ids that the vocabulary does not have", 0.0),
        Statistic("of the ordinary ids, a share that is never drawn", 0.0),
        Statistic("the id of [UNK], which no text here has, is never drawn", 0.0),
    ),
    random_tokens,
)

EXERCISE = exercise(
    "mask_tokens",
    ("input_ids", "special_ids", "mask_token_id", "vocab_size", "*generator", "probability"),
    draw,
    order=200,
    title="hiding tokens",
    points={"values": 6, "properties": 2},
    file="pretraining.py",
    extension=True,
    axes={2: ("row", "token")},
    call={"form": "tuple", "returns": ("input_ids", "labels")},
    probes=(
        probe(
            "nothing chosen",
            "properties",
            "with a probability of 0, something is still chosen or changed",
            **choosing(0.0, SMALL),
        ),
        probe(
            "alone",
            "values",
            "tokens are not chosen or hidden independently",
            examine=ALONE,
            **choosing(EVENLY),
        ),
        probe("which", "values", "the wrong tokens are chosen", examine=WHICH, **choosing(RARELY)),
        probe(
            "fate",
            "values",
            "chosen tokens are hidden incorrectly",
            examine=FATE,
            **choosing(OFTEN),
        ),
        probe(
            "random tokens",
            "values",
            "random tokens are wrong",
            examine=RANDOM,
            **choosing(OFTEN, SMALL),
        ),
        seeds("mask_tokens", **choosing(EVENLY, SMALL)),
    ),
)
