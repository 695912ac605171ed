"""Next-sentence prediction: pairs of sentences, half of them true.

Four statistics depend on the draws, of which each fails right code once in a billion gradings, and
so does a document that is never drawn from. They allow documents to be drawn evenly, or by the
number of their sentences, and as many true pairs as false ones in a random order.
"""

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from grader.probes import seeds
from tensormark.literals import packed, unpacked
from tensormark.toolkit import Call, Tensors, exercise, probe
from tensormark.toolkit.seeds import draw_seeds
from tensormark.toolkit.statistics import Statistic, Statistics, margin

FEW = (130, 131, 132, 133)  # sentences of each document: for each, all others are drawn from
MANY = (5, 2, 4, 3) * 200  # so short that the first and last sentences are drawn often
LONGEST = 9  # tokens of a sentence
FIRST_TOKEN = 10  # of the first sentence
STEP = 10  # from one to the next
NOWHERE = -1, -1
SPECIAL = 3  # tokens that a pair will have besides: [CLS] and two [SEP]
SHORT = 13  # tokens of a pair where many are cut
IS_NEXT = 0
Documents = list[list[list[int]]]


class Text:
    """Documents, and where each of their sentences stands in them, by its first token."""

    def __init__(self, documents: Documents) -> None:
        self.documents = documents
        self.places: dict[int, tuple[int, int]] = {}
        self.firsts: list[tuple[int, int]] = []
        for n, document in enumerate(documents):
            self.places |= {sentence[0]: (n, k) for k, sentence in enumerate(document)}
            self.firsts += [(n, k) for k in range(len(document) - 1)]

    def place(self, sentence: list[int]) -> tuple[int, int]:
        """Return the document and the number of a sentence; NOWHERE if there is none."""
        return self.places.get(sentence[0], NOWHERE) if sentence else NOWHERE

    def whole(self, sentence: list[int]) -> list[int]:
        """Return all of a sentence of which this is the beginning; nothing if there is none."""
        n, k = self.place(sentence)
        return [] if (n, k) == NOWHERE else self.documents[n][k]


def documents_of(sizes: Iterable[int], starts: Iterable[int], lengths: Iterable[int]) -> Documents:
    """Return documents of so many sentences, which begin with these tokens and have these lengths.

    The tokens of a sentence are consecutive.
    """
    pairs = zip(starts, lengths, strict=True)
    sentences = (list(range(start, start + length)) for start, length in pairs)
    return [list(itertools.islice(sentences, size)) for size in sizes]


def text(sizes: Sequence[int]) -> Documents:
    """Return the public text of documents with so many sentences."""
    starts = range(FIRST_TOKEN, FIRST_TOKEN + STEP * sum(sizes), STEP)
    lengths: list[int] = []
    for size in sizes:
        lengths += [1 + (3 * k + size) % LONGEST for k in range(size)]
    return documents_of(sizes, starts, lengths)


TEXTS = {"few": text(FEW), "many": text(MANY)}


def text_of(inputs: Tensors, name: str) -> Text:
    """Return the text of a call with these inputs, or the public one of this name."""
    return Text(unpacked(inputs).get("documents", TEXTS[name]))


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw only the seeds of calls that need them: the documents are literals."""
    return draw_seeds(rng) if call.kind == "seeds" else {}


def draw_private(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw documents in another order, of other sentences; there are as many pairs of them."""
    sizes = [len(document) for document in call.literals["documents"]]
    lengths = rng.integers(1, LONGEST + 1, sum(sizes)).tolist()
    starts = FIRST_TOKEN + STEP * rng.permutation(sum(sizes))
    documents = documents_of(rng.permutation(sizes).tolist(), starts.tolist(), lengths)
    return packed({"documents": documents}) | draw(rng, call)


def rows(outputs: Tensors) -> list[tuple[list[int], list[int], int]]:
    """Return the pairs without padding."""
    columns = [outputs["first"].tolist(), outputs["second"].tolist()]
    first, second = ([[t for t in row if t >= 0] for row in column] for column in columns)
    return list(zip(first, second, outputs["label"].tolist(), strict=True))


def mean(numbers: Sequence[float]) -> float:
    """Return the mean; 0 if empty."""
    return sum(numbers) / max(1, len(numbers))


def which(outputs: Tensors, inputs: Tensors) -> list[float]:
    """Compute statistics of which sentences were paired."""
    text = text_of(inputs, "few")
    wrong_first = []
    own = []
    lies = []
    others = set(itertools.permutations(range(len(FEW)), 2))
    never = set(others)
    for (first, second, label), (n, k) in zip(rows(outputs), text.firsts, strict=True):
        place = text.place(second)
        follows = place == (n, k + 1)
        wrong_first.append(text.place(first) != (n, k))
        own.append(place[0] == n and not follows)
        lies.append(follows != (label == IS_NEXT))
        never.discard((n, place[0]))
    return [mean(wrong_first), mean(own), mean(lies), len(never) / len(others)]


def draws(outputs: Tensors, inputs: Tensors) -> list[float]:
    """Compute statistics of the coin, and of which sentences of other documents were drawn."""
    pairs = rows(outputs)
    text = text_of(inputs, "many")
    true = [label == IS_NEXT for _, _, label in pairs]
    documents = [n for n, _ in text.firsts]
    both = zip(itertools.pairwise(true), itertools.pairwise(documents), strict=True)
    again = [one == other for (one, other), (n, m) in both if n == m]
    drawn = [text.place(second) for _, second, label in pairs if label != IS_NEXT]
    repeated = [one == other for one, other in itertools.pairwise(drawn)]
    ends = [(k == 0) - (k == len(text.documents[n]) - 1) for n, k in drawn]
    return [mean(true), mean(again), mean(ends), mean(repeated)]


def fitting(first: int, second: int, longest: int) -> set[tuple[int, int]]:
    """Return the possible lengths when the longer sentence is cut; if equal, either."""
    fits = set()
    for ahead in (0, 1):
        lengths = [first, second]
        while sum(lengths) + SPECIAL > longest:
            lengths[0 if lengths[0] >= lengths[1] + ahead else 1] -= 1
        fits.add((lengths[0], lengths[1]))
    return fits


def lengths(outputs: Tensors, inputs: Tensors) -> list[float]:
    """Compute statistics of lengths, for pairs of at most SHORT tokens.

    The first share says whether everything is right. The others distinguish mistakes, and hardly
    depend on the draws: each looks at pairs of one kind.
    """
    text = text_of(inputs, "few")
    wrong = []
    extra = []  # where tokens are to be cut: how many too many are left
    one_sided = set()  # 1, 2: the first or second sentence alone is to be cut, and is cut wrongly
    front = []  # of the sentences that were cut, those without their beginning
    for a, b, _ in rows(outputs):
        whole = text.whole(a)
        other = text.whole(b)
        if not whole or not other:
            wrong.append(True)
            front += [True for part, all_of in ((a, whole), (b, other)) if part and not all_of]
            continue
        fits = fitting(len(whole), len(other), SHORT)
        off = (len(a), len(b)) not in fits
        front += [False for part, all_of in ((a, whole), (b, other)) if len(part) < len(all_of)]
        wrong.append(off or whole[: len(a)] != a or other[: len(b)] != b)
        if len(whole) + len(other) + SPECIAL > SHORT:
            extra.append(max(-1, min(len(a) + len(b) + SPECIAL - SHORT, SPECIAL + 1)))
        first_is_cut = {first for first, _ in fits} != {len(whole)}
        second_is_cut = {second for _, second in fits} != {len(other)}
        if off and first_is_cut != second_is_cut:
            one_sided.add(1 if first_is_cut else 2)
    cut = max(extra, default=0) + min(extra, default=0)
    return [mean(wrong), cut, sum(one_sided), mean(front)]


def pairing(name: str, longest: int) -> dict[str, Any]:
    """Return the fields of a call with the text of this name, and this maximum length of a pair."""
    return {"inputs": name, "literals": {"documents": TEXTS[name], "max_length": longest}}


WHICH = Statistics(
    (
        Statistic("first sentences are not those of the text in order", 0.0),
        Statistic("sentences that do not follow come from the same document", 0.0, blur=0.12),
        Statistic("labels do not say whether the second sentence follows", 0.0),
        # a share of all ordered pairs of documents; right code draws from one with exp(-23)
        Statistic("there are other documents that no sentence is drawn from", 0.0),
    ),
    which,
)
ALL = sum(MANY) - len(MANY)  # pairs
NEIGHBOURS = ALL - len(MANY)  # pairs that have one before them in their document
FALSE = int(0.42 * ALL)  # at least so many of them are false
ONE = 1 / sum(MANY)
LENGTHS = Statistics(
    (
        Statistic("pairs are cut in the wrong place or not at all", 0.0, blur=2.0),
        Statistic("pairs that are cut have too many tokens, or too few", 0.0),
        Statistic("the wrong sentences are cut", 0.0),
        Statistic("sentences have lost their beginning", 0.0),
    ),
    lengths,
)
DRAWS = Statistics(
    (
        Statistic("the share of true pairs is off", 0.5, margin(ALL)),
        Statistic("coin tosses depend on earlier ones", 0.5, margin(NEIGHBOURS)),
        # each draw counts for 1, -1 or 0
        Statistic("first sentences are drawn more often than last", 0.0, 2 * margin(FALSE)),
        Statistic("the same sentence is drawn again and again", ONE, margin(FALSE, ONE)),
    ),
    draws,
)

EXERCISE = exercise(
    "make_sentence_pairs",
    ("documents", "*random", "max_length"),
    draw,
    draw_private=draw_private,
    order=210,
    title="pairs of sentences",
    points={"values": 5, "properties": 1},
    file="pretraining.py",
    extension=True,
    axes={1: ("pair",), 2: ("pair", "token")},
    call={"form": "rows", "returns": ("first", "second", "label")},
    probes=(
        probe(
            "which",
            "values",
            "the wrong sentences are paired",
            examine=WHICH,
            **pairing("few", 100),
        ),
        probe(
            "draws",
            "values",
            "sentences are drawn incorrectly",
            examine=DRAWS,
            **pairing("many", 100),
        ),
        probe(
            "lengths",
            "values",
            "pairs have wrong lengths",
            examine=LENGTHS,
            **pairing("few", SHORT),
        ),
        seeds("make_sentence_pairs", **pairing("few", 100)),
    ),
)
