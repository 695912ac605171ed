"""Next-sentence prediction: pairs of sentences, half of them true."""

import itertools
from collections.abc import Iterable

import numpy as np

from grader import probes
from grader.inputs import no_inputs
from grader.model import BertCall
from tensormark.exercise import Exercise, Tensors
from tensormark.literals import packed, unpacked
from tensormark.toolkit.statistics import Statistic, Statistics, margin

SIZES = (9, 2, 12, 5) * 20  # sentences of each document
LONGEST = 9  # tokens of a sentence
FIRST_TOKEN, STEP = 10, 10  # of the first sentence, and from one to the next
NOWHERE = -1, -1
SPECIAL = 3  # tokens that a pair will have besides: [CLS] and two [SEP]
IS_NEXT = 0
Documents = list[list[list[int]]]


class Text:
    """Documents, and where each of their sentences stands in them, by its first token."""

    def __init__(self, documents: Documents) -> None:
        self.documents = documents
        numbered = [(n, k, s) for n, some in enumerate(documents) for k, s in enumerate(some)]
        self.of = {sentence[0]: (n, k) for n, k, sentence in numbered}
        self.firsts = [(n, k) for n, some in enumerate(documents) for k in range(len(some) - 1)]

    def place(self, sentence: list[int]) -> tuple[int, int]:
        """Return the document and the number of a sentence; NOWHERE if there is none."""
        return self.of.get(sentence[0], NOWHERE) if sentence else NOWHERE


def documents_of(sizes: Iterable[int], starts: Iterable[int], lengths: Iterable[int]) -> Documents:
    """Return documents of so many sentences, which begin with these tokens and have these lengths.

    The tokens of a sentence are consecutive.
    """
    pairs = zip(starts, lengths, strict=True)
    sentences = (list(range(start, start + length)) for start, length in pairs)
    return [list(itertools.islice(sentences, size)) for size in sizes]


STARTS = range(FIRST_TOKEN, FIRST_TOKEN + STEP * sum(SIZES), STEP)
PUBLIC = Text(
    documents_of(SIZES, STARTS, [1 + (3 * k + n) % LONGEST for n in SIZES for k in range(n)])
)


def text_of(inputs: Tensors) -> Text:
    """Return the text of a call with these inputs."""
    own = unpacked(inputs)
    return Text(own["documents"]) if own else PUBLIC


def draw_private(rng: np.random.Generator, call: BertCall) -> Tensors:
    """Draw documents in another order, of other sentences; there are as many pairs of them."""
    lengths = rng.integers(1, LONGEST + 1, sum(SIZES)).tolist()
    starts = rng.permutation(STARTS).tolist()
    return packed({"documents": documents_of(rng.permutation(SIZES).tolist(), starts, lengths)})


def rows(outputs: Tensors) -> list[tuple[list[int], list[int], int]]:
    """Return the pairs without padding."""
    columns = [outputs["first"].tolist(), outputs["second"].tolist()]
    first, second = ([[t for t in row if t >= 0] for row in column] for column in columns)
    return list(zip(first, second, outputs["label"].tolist(), strict=True))


def share(truths: list[bool]) -> float:
    """Return the share of true values."""
    return sum(truths) / len(truths)


def which(outputs: Tensors, inputs: Tensors) -> list[float]:
    """Compute statistics of which sentences were paired."""
    pairs, text = rows(outputs), text_of(inputs)
    place, firsts = text.place, text.firsts
    wrong_first = [place(a) != at for (a, _, _), at in zip(pairs, firsts, strict=True)]
    following = [(n, k + 1) for n, k in firsts]
    true = [place(b) == at for (_, b, _), at in zip(pairs, following, strict=True)]
    says = [label == IS_NEXT for _, _, label in pairs]
    same = [place(b)[0] == n for (_, b, _), (n, _) in zip(pairs, firsts, strict=True)]
    own = [s and not t for s, t in zip(same, true, strict=True)]
    lies = [t != s for t, s in zip(true, says, strict=True)]
    return [share(wrong_first), share(own), share(lies), share(true)]


def fitting(first: int, second: int, longest: int) -> set[tuple[int, int]]:
    """Return the possible lengths when the longer sentence is cut; if equal, either."""
    fits = set()
    for ahead in (0, 1):
        lengths = [first, second]
        while sum(lengths) + SPECIAL > longest:
            lengths[0 if lengths[0] >= lengths[1] + ahead else 1] -= 1
        fits.add((lengths[0], lengths[1]))
    return fits


def mean(numbers: list[float]) -> float:
    """Return the mean; 0 if empty."""
    return sum(numbers) / max(1, len(numbers))


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
        text = text_of(inputs)
        for a, b, _ in rows(outputs):
            (n, k), (m, j) = text.place(a), text.place(b)
            if NOWHERE in ((n, k), (m, j)):
                wrong.append(True)
                front.append(any(part and text.place(part) == NOWHERE for part in (a, b)))
                continue
            whole, other = text.documents[n][k], text.documents[m][j]
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


def call(longest: int) -> BertCall:
    """Return a call with this maximum length of a pair."""
    return BertCall(
        "make_sentence_pairs",
        ("documents", "*random", "max_length"),
        "pretraining",
        kind="function",
        literals={"documents": PUBLIC.documents, "max_length": longest},
        returns=("first", "second", "label"),
        form="rows",
    )


SHARES = Statistics(
    (
        Statistic("first sentences are not those of the text in order", 0.0),
        Statistic("sentences that do not follow come from the same document", 0.0),
        Statistic("labels do not say whether the second sentence follows", 0.0),
        Statistic("the share of true pairs is off", 0.5, margin(len(PUBLIC.firsts))),
    ),
    which,
)

EXERCISE = Exercise(
    id="make_sentence_pairs",
    order=210,
    title="pairs of sentences",
    points={"values": 5, "properties": 1},
    draw=no_inputs,
    draw_private=draw_private,
    file="pretraining.py",
    extension=True,
    probes=(
        probes.values("which", "the wrong sentences are paired", call(100), examine=SHARES),
        probes.values("lengths", "pairs have wrong lengths", call(12), examine=lengths_with(12)),
    ),
)
