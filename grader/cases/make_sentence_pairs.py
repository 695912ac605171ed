"""Next-sentence prediction: pairs of sentences, half of them true."""

import numpy as np

from grader.cases import Call, Exercise, Probe, Tensors
from grader.cases.shares import Share, Shares, margin

SIZES = (9, 2, 12, 5) * 20  # sentences of each document
LONGEST = 9  # tokens of a sentence
FIRST_TOKEN = 10
IS_NEXT = 0
DOCUMENTS: list[list[list[int]]] = []
OF: dict[int, tuple[int, int]] = {}  # a sentence's first token to its document and number
for size in SIZES:
    document = []
    for number in range(size):
        start = FIRST_TOKEN + 10 * len(OF)
        OF[start] = len(DOCUMENTS), number
        document.append(list(range(start, start + 1 + (3 * number + size) % LONGEST)))
    DOCUMENTS.append(document)
FIRSTS = [(n, k) for n, size in enumerate(SIZES) for k in range(size - 1)]


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    """Return nothing: the documents are literals."""
    return {}


def rows(outputs: Tensors) -> list[tuple[list[int], list[int], int]]:
    """Return the pairs without what fills them up."""
    columns = [outputs["first"].tolist(), outputs["second"].tolist()]
    first, second = ([[t for t in row if t >= 0] for row in column] for column in columns)
    return list(zip(first, second, outputs["label"].tolist(), strict=True))


def share(found: list[bool]) -> float:
    """Return the share of what is true."""
    return sum(found) / len(found)


def place(sentence: list[int]) -> tuple[int, int]:
    """Return the document and the number of a sentence; (-1, -1) of one that there is not."""
    return OF.get(sentence[0], (-1, -1)) if sentence else (-1, -1)


def which(outputs: Tensors, inputs: Tensors) -> list[float]:
    """Read off which sentences were paired."""
    pairs = rows(outputs)
    wrong_first = [place(a) != at for (a, _, _), at in zip(pairs, FIRSTS, strict=True)]
    following = [(n, k + 1) for n, k in FIRSTS]
    true = [place(b) == at for (_, b, _), at in zip(pairs, following, strict=True)]
    says = [label == IS_NEXT for _, _, label in pairs]
    same = [place(b)[0] == n for (_, b, _), (n, _) in zip(pairs, FIRSTS, strict=True)]
    own = [s and not t for s, t in zip(same, true, strict=True)]
    lies = [t != s for t, s in zip(true, says, strict=True)]
    return [share(wrong_first), share(own), share(lies), share(true)]


def cut(first: list[int], second: list[int], longest: int) -> tuple[list[int], list[int]]:
    """Return both sentences with the longer one cut until they fit."""
    lengths = [len(first), len(second)]
    while sum(lengths) + 3 > longest:
        lengths[0 if lengths[0] > lengths[1] else 1] -= 1
    return first[: lengths[0]], second[: lengths[1]]


def lengths_with(longest: int) -> Shares:
    """Return the judge of lengths, where pairs may have so many tokens."""

    def read(outputs: Tensors, inputs: Tensors) -> list[float]:
        pairs = rows(outputs)
        over = [len(a) + len(b) + 3 > longest for a, b, _ in pairs]
        other = []
        for a, b, _ in pairs:
            (n, k), (m, j) = place(a), place(b)
            whole = DOCUMENTS[n][k], DOCUMENTS[m][j]
            fit = cut(*whole, longest)
            other.append(-1 in (n, m) or {len(a) - len(fit[0]), len(b) - len(fit[1])} != {0})
        return [share(over), share(other)]

    return Shares(
        (Share("pairs are too long", 0.0), Share("pairs are cut in the wrong place", 0.0)), read
    )


def call(longest: int) -> tuple[Call]:
    """Return a call with this longest pair."""
    return (
        Call(
            "make_sentence_pairs",
            ("documents", "*random", "max_length"),
            kind="function",
            module="pretraining",
            literals={"documents": DOCUMENTS, "max_length": longest},
            returns=("first", "second", "label"),
            form="rows",
        ),
    )


SHARES = Shares(
    (
        Share("first sentences are not those of the text, in its order", 0.0),
        Share("sentences that do not follow come from the same document", 0.0),
        Share("labels do not say whether the second sentence follows", 0.0),
        Share("the share of true pairs is off", 0.5, margin(len(FIRSTS))),
    ),
    which,
)

EXERCISE = Exercise(
    id="make_sentence_pairs",
    order=21,
    title="pairs of sentences",
    points={"values": 5, "properties": 1},
    upstream=(),
    draw=draw,
    file="pretraining.py",
    probes=(
        Probe("which", "values", "the wrong sentences are paired", call(100), examine=SHARES),
        Probe("lengths", "values", "pairs have wrong lengths", call(12), examine=lengths_with(12)),
    ),
)
