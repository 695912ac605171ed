"""Masked-language modelling: which tokens are chosen, and what becomes of them."""

import numpy as np

from grader import probes
from grader.model import BertCall
from tensormark.exercise import Exercise, Tensors
from tensormark.toolkit.statistics import Statistic, Statistics, margin

B, T, V = 40, 200, 1000
SHORTEST = 180  # tokens of a row, [CLS] and [SEP] included
SPECIAL = {"pad": 0, "unknown": 1, "cls": 2, "sep": 3, "mask": 4}
IGNORED = -100
OFTEN = 0.9  # the probability of choosing tokens in the probe of their fate


def draw(rng: np.random.Generator, call: BertCall) -> Tensors:
    """Draw rows of ids: [CLS], tokens, [SEP], padding."""
    ids = rng.integers(len(SPECIAL), V, (B, T))
    lengths = rng.integers(SHORTEST, T + 1, B)
    ids[:, 0] = SPECIAL["cls"]
    ids[np.arange(B), lengths - 1] = SPECIAL["sep"]
    ids[np.arange(T) >= lengths[:, None]] = SPECIAL["pad"]
    return {"input_ids": ids}


ORDINARY = B * (SHORTEST - 2)  # at least this many tokens may be chosen


def which(outputs: Tensors, inputs: Tensors) -> list[float]:
    """Compute statistics of which tokens were chosen, by their labels."""
    true, labels = inputs["input_ids"], outputs["labels"]
    special = np.isin(true, list(SPECIAL.values()))
    chosen = labels != IGNORED
    return [
        float(chosen[special].mean()),
        float((labels[chosen] != true[chosen]).mean()) if chosen.any() else 0.0,
        float((outputs["input_ids"] != true)[~chosen].mean()) if not chosen.all() else 0.0,
        float(chosen[~special].mean()),
    ]


def fate(outputs: Tensors, inputs: Tensors) -> list[float]:
    """Compute statistics of what became of the chosen tokens."""
    true, labels = inputs["input_ids"], outputs["labels"]
    special = np.isin(true, list(SPECIAL.values()))
    chosen = (labels != IGNORED) & ~special
    now, before = outputs["input_ids"][chosen], true[chosen]
    masked = now == SPECIAL["mask"]
    kept = now == before
    drawn = now[~masked & ~kept]
    share = float(chosen[~special].mean())
    if not chosen.any():
        return [share, 0.0, 0.0, 0.0]
    return [share, masked.mean(), kept.mean(), drawn.mean() / V if drawn.size else 0.0]


def call(probability: float) -> BertCall:
    """Return a call with this probability."""
    return BertCall(
        "mask_tokens",
        ("input_ids", "special_ids", "mask_token_id", "vocab_size", "*generator", "probability"),
        "pretraining",
        kind="function",
        literals={
            "special_ids": list(SPECIAL.values()),
            "mask_token_id": SPECIAL["mask"],
            "vocab_size": V,
            "probability": probability,
        },
        returns=("input_ids", "labels"),
        form="tuple",
    )


WHICH = Statistics(
    (
        Statistic("special tokens are chosen", 0.0),
        Statistic("the label of a chosen token is not its true id", 0.0),
        Statistic("tokens without a label are changed", 0.0),
        Statistic("the share of chosen tokens is off", 0.15, margin(ORDINARY)),
    ),
    which,
)
FEW = int(OFTEN * ORDINARY * 0.95)  # chosen tokens, at least
FATE = Statistics(
    (
        Statistic("the share of chosen tokens is off", OFTEN, margin(ORDINARY)),
        Statistic("the share of [MASK] among the chosen is off", 0.8, margin(FEW)),
        Statistic("the share of chosen tokens that stay is off", 0.1, margin(FEW)),
        Statistic(
            "random tokens do not come from the whole vocabulary: mean id as a share of its size",
            0.5,
            margin(FEW // 12),
        ),
    ),
    fate,
)

EXERCISE = Exercise(
    id="mask_tokens",
    order=200,
    title="hiding tokens",
    points={"values": 6, "properties": 2},
    draw=draw,
    file="pretraining.py",
    extension=True,
    probes=(
        probes.properties(
            "nothing chosen",
            "with a probability of 0, something is still chosen or changed",
            call(0.0),
        ),
        probes.values("which", "the wrong tokens are chosen", call(0.15), examine=WHICH),
        probes.values("fate", "chosen tokens are hidden incorrectly", call(OFTEN), examine=FATE),
    ),
)
