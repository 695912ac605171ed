"""Next-sentence prediction: pairs of sentences, half of them true."""

import numpy as np

from grader.assignment.model import BertCall
from grader.assignment.statistics import Statistic, Statistics, margin
from grader.exercise import Exercise, Probe, Tensors

SIZES = (9, 2, 12, 5) * 20  # sentences of each document
LONGEST = 9  # tokens of a sentence
FIRST_TOKEN = 10
NOWHERE = -1, -1
SPECIAL = 3  # tokens that a pair will have besides: [CLS] and two [SEP]
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


def draw(rng: np.random.Generator, call: BertCall) -> Tensors:
    """Return nothing: the documents are literals."""
    return {}


def rows(outputs: Tensors) -> list[tuple[list[int], list[int], int]]:
    """Return the pairs without padding."""
    columns = [outputs["first"].tolist(), outputs["second"].tolist()]
    first, second = ([[t for t in row if t >= 0] for row in column] for column in columns)
    return list(zip(first, second, outputs["label"].tolist(), strict=True))


def share(found: list[bool]) -> float:
    """Return the share of true values."""
    return sum(found) / len(found)


def place(sentence: list[int]) -> tuple[int, int]:
    """Return the document and the number of a sentence; NOWHERE if there is none."""
    return OF.get(sentence[0], NOWHERE) if sentence else NOWHERE


def which(outputs: Tensors, inputs: Tensors) -> list[float]:
    """Compute statistics of which sentences were paired."""
    pairs = rows(outputs)
    wrong_first = [place(a) != at for (a, _, _), at in zip(pairs, FIRSTS, strict=True)]
    following = [(n, k + 1) for n, k in FIRSTS]
    true = [place(b) == at for (_, b, _), at in zip(pairs, following, strict=True)]
    says = [label == IS_NEXT for _, _, label in pairs]
    same = [place(b)[0] == n for (_, b, _), (n, _) in zip(pairs, FIRSTS, strict=True)]
    own = [s and not t for s, t in zip(same, true, strict=True)]
    lies = [t != s for t, s in zip(true, says, strict=True)]
    return [share(wrong_first), share(own), share(lies), share(true)]


def fitting(first: int, second: int, longest: int) -> set[tuple[int, int]]:
    """Return the possible lengths when the longer sentence is cut; if equal, either."""
    found = set()
    for ahead in (0, 1):
        lengths = [first, second]
        while sum(lengths) + SPECIAL > longest:
            lengths[0 if lengths[0] >= lengths[1] + ahead else 1] -= 1
        found.add((lengths[0], lengths[1]))
    return found


def mean(found: list[float]) -> float:
    """Return the mean; 0 if empty."""
    return sum(found) / max(1, len(found))


def lengths_with(longest: int) -> Statistics:
    """Return the statistics of lengths, for pairs of at most `longest` tokens.

    The first share says whether everything is right. The others distinguish mistakes, and do not
    depend on the draws: each looks at pairs of one kind.
    """

    def read(outputs: Tensors, inputs: Tensors) -> list[float]:
        wrong: list[float] = []
        extra: list[float] = []  # where far too many tokens are to be cut: how many are left
        first: list[float] = []  # where the first sentence alone is to be cut: wrong lengths
        second: list[float] = []
        front: list[float] = []  # sentences without their beginning
        for a, b, _ in rows(outputs):
            (n, k), (m, j) = place(a), place(b)
            if NOWHERE in ((n, k), (m, j)):
                wrong.append(True)
                front.append(any(part and place(part) == NOWHERE for part in (a, b)))
                continue
            whole, other = DOCUMENTS[n][k], DOCUMENTS[m][j]
            fits = fitting(len(whole), len(other), longest)
            off = (len(a), len(b)) not in fits
            wrong.append(off or whole[: len(a)] != a or other[: len(b)] != b)
            if len(whole) + len(other) > longest:
                extra.append(max(-1, min(len(a) + len(b) + SPECIAL - longest, SPECIAL + 1)))
            kept_first, kept_second = map(set, zip(*fits, strict=True))
            if kept_first != {len(whole)} and kept_second == {len(other)}:
                first.append(off)
            if kept_first == {len(whole)} and kept_second != {len(other)}:
                second.append(off)
        return [mean(wrong), mean(extra), mean(first) + 2 * mean(second), float(any(front))]

    return Statistics(
        (
            Statistic("pairs are cut in the wrong place or not at all", 0.0, blur=2.0),
            Statistic("pairs that are cut have too many tokens, or too few", 0.0),
            Statistic("the wrong sentences are cut", 0.0),
            Statistic("sentences have lost their beginning", 0.0),
        ),
        read,
    )


def call(longest: int) -> tuple[BertCall]:
    """Return a call with this maximum length of a pair."""
    return (
        BertCall(
            "make_sentence_pairs",
            ("documents", "*random", "max_length"),
            kind="function",
            module="pretraining",
            literals={"documents": DOCUMENTS, "max_length": longest},
            returns=("first", "second", "label"),
            form="rows",
        ),
    )


SHARES = Statistics(
    (
        Statistic("first sentences are not those of the text in order", 0.0),
        Statistic("sentences that do not follow come from the same document", 0.0),
        Statistic("labels do not say whether the second sentence follows", 0.0),
        Statistic("the share of true pairs is off", 0.5, margin(len(FIRSTS))),
    ),
    which,
)

EXERCISE = Exercise(
    id="make_sentence_pairs",
    order=210,
    title="pairs of sentences",
    points={"values": 5, "properties": 1},
    draw=draw,
    file="pretraining.py",
    extension=True,
    probes=(
        Probe("which", "values", "the wrong sentences are paired", call(100), examine=SHARES),
        Probe("lengths", "values", "pairs have wrong lengths", call(12), examine=lengths_with(12)),
    ),
)
