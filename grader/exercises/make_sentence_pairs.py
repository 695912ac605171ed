"""Next-sentence prediction: pairs of sentences, half of them true.

Four statistics depend on the draws. Right code fails each once in a billion gradings, and as rarely
never draws from one of the documents. It may draw documents evenly, or by the number of their
sentences; and it may toss coins, or put as many true pairs as false ones in a random order.

Key: n the number of a document, k that of a sentence in it.
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

# sentences of each document
FEW = (130, 131, 132, 133)  # so many that for each document, all others are drawn from
MANY = (5, 2, 4, 3) * 200  # so few that the first and last sentences are drawn often
LONGEST = 9  # tokens of a sentence
FIRST_TOKEN = 10  # of the first sentence
STEP = 10  # from the first token of a sentence to that of the next
NOWHERE = -1, -1
SPECIAL = 3  # tokens that a pair will have besides: [CLS] and two [SEP]
SHORT = 13  # tokens of a pair, so few that many are cut
IS_NEXT = 0
Documents = list[list[list[int]]]


class Text:
    """Documents, and where each of their sentences stands in them.

    Attributes:
        places: the (n, k) of each sentence, by its first token.
        firsts: the (n, k) of each sentence that has a next one, in order.
    """

    def __init__(self, documents: Documents) -> None:
        self.documents = documents
        self.places: dict[int, tuple[int, int]] = {}
        self.firsts: list[tuple[int, int]] = []
        for n, document in enumerate(documents):
            for k, sentence in enumerate(document):
                self.places[sentence[0]] = n, k
            self.firsts += [(n, k) for k in range(len(document) - 1)]

    def place(self, sentence: list[int]) -> tuple[int, int]:
        """Return the (n, k) of a sentence, or NOWHERE."""
        return self.places.get(sentence[0], NOWHERE) if sentence else NOWHERE

    def whole(self, sentence: list[int]) -> list[int]:
        """Return the whole sentence of which this is the beginning; nothing if there is none."""
        n, k = self.place(sentence)
        return [] if (n, k) == NOWHERE else self.documents[n][k]


def documents_of(sizes: Iterable[int], starts: Iterable[int], lengths: Iterable[int]) -> Documents:
    """Return documents of so many sentences, which begin with these tokens and have these lengths.

    The tokens of a sentence are consecutive.
    """
    pairs = zip(starts, lengths, strict=True)
    sentences = (list(range(start, start + length)) for start, length in pairs)
    return [list(itertools.islice(sentences, size)) for size in sizes]


def public_documents(sizes: Sequence[int]) -> Documents:
    """Return the public documents of so many sentences."""
    starts = range(FIRST_TOKEN, FIRST_TOKEN + STEP * sum(sizes), STEP)
    lengths: list[int] = []
    for size in sizes:
        lengths += [1 + (3 * k + size) % LONGEST for k in range(size)]
    return documents_of(sizes, starts, lengths)


PUBLIC = {"few": public_documents(FEW), "many": public_documents(MANY)}


def text_of(inputs: Tensors, name: str) -> Text:
    """Return the text of a call: that of its inputs if they have one, else the public one."""
    return Text(unpacked(inputs).get("documents", PUBLIC[name]))


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw only the seeds of calls that need them: the documents are literals."""
    return draw_seeds(rng) if call.kind == "seeds" else {}


def draw_private(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw documents of other sentences and in another order, which have as many pairs."""
    sizes = [len(document) for document in call.literals["documents"]]
    lengths = rng.integers(1, LONGEST + 1, sum(sizes)).tolist()
    starts = FIRST_TOKEN + STEP * rng.permutation(sum(sizes))
    documents = documents_of(rng.permutation(sizes).tolist(), starts.tolist(), lengths)
    return packed({"documents": documents}) | draw(rng, call)


def unpadded(sentences: np.ndarray) -> list[list[int]]:
    """Return sentences without their padding, which is negative."""
    return [[token for token in sentence if token >= 0] for sentence in sentences.tolist()]


def rows(outputs: Tensors) -> list[tuple[list[int], list[int], int]]:
    """Return the pairs: first sentence, second sentence and label."""
    first = unpadded(outputs["first"])
    second = unpadded(outputs["second"])
    return list(zip(first, second, outputs["label"].tolist(), strict=True))


def mean(numbers: Sequence[float]) -> float:
    """Return the mean; 0 if empty."""
    return sum(numbers) / max(1, len(numbers))


def which(outputs: Tensors, inputs: Tensors) -> list[float]:
    """Compute statistics of which sentences were paired."""
    text = text_of(inputs, "few")
    wrong_first = []
    same_document = []
    wrong_label = []
    others = set(itertools.permutations(range(len(FEW)), 2))
    never_drawn = set(others)
    for (first, second, label), (n, k) in zip(rows(outputs), text.firsts, strict=True):
        place = text.place(second)
        follows = place == (n, k + 1)
        wrong_first.append(text.place(first) != (n, k))
        same_document.append(place[0] == n and not follows)
        wrong_label.append(follows != (label == IS_NEXT))
        never_drawn.discard((n, place[0]))
    missing = len(never_drawn) / len(others)
    return [mean(wrong_first), mean(same_document), mean(wrong_label), missing]


def draws(outputs: Tensors, inputs: Tensors) -> list[float]:
    """Compute statistics of the coin, and of which sentences of other documents were drawn."""
    pairs = rows(outputs)
    text = text_of(inputs, "many")
    true = [label == IS_NEXT for _, _, label in pairs]
    documents = [n for n, _ in text.firsts]
    tosses = zip(true, documents, strict=True)
    # whether a toss is like the one before it in its document
    alike = [one == other for (one, n), (other, m) in itertools.pairwise(tosses) if n == m]
    drawn = [text.place(second) for _, second, label in pairs if label != IS_NEXT]
    repeated = [one == other for one, other in itertools.pairwise(drawn)]
    ends = []  # 1 for the first sentence of a document, -1 for the last
    for n, k in drawn:
        is_last = k == len(text.documents[n]) - 1
        ends.append((k == 0) - is_last)
    return [mean(true), mean(alike), mean(ends), mean(repeated)]


def fitting(first: int, second: int, longest: int) -> set[tuple[int, int]]:
    """Return the possible lengths when the longer sentence is cut; if equal, either."""
    fits = set()
    for if_equal in (0, 1):
        sizes = [first, second]
        while sum(sizes) + SPECIAL > longest:
            longer = if_equal if sizes[0] == sizes[1] else sizes.index(max(sizes))
            sizes[longer] -= 1
        fits.add((sizes[0], sizes[1]))
    return fits


def cuts(outputs: Tensors, inputs: Tensors) -> list[float]:
    """Compute statistics of how sentences were cut, for pairs of at most SHORT tokens.

    The first share says whether everything is right. The others distinguish mistakes, and hardly
    depend on the draws: each looks at pairs of one kind.
    """
    text = text_of(inputs, "few")
    wrong = []
    excess = []  # of pairs that are to be cut: how many tokens too many are left
    miscut = set()  # 1, 2: the first or second sentence alone is to be cut, and lengths are wrong
    lost_front = []  # of sentences that were cut: whether their beginning is gone
    for first, second, _ in rows(outputs):
        first_whole = text.whole(first)
        second_whole = text.whole(second)
        both = ((first, first_whole), (second, second_whole))
        if not first_whole or not second_whole:
            wrong.append(True)
            lost_front += [True for part, whole in both if part and not whole]
            continue
        lost_front += [False for part, whole in both if len(part) < len(whole)]
        fits = fitting(len(first_whole), len(second_whole), SHORT)
        is_misfit = (len(first), len(second)) not in fits
        wrong.append(is_misfit or any(part != whole[: len(part)] for part, whole in both))
        if len(first_whole) + len(second_whole) + SPECIAL > SHORT:
            left = len(first) + len(second) + SPECIAL - SHORT
            excess.append(max(-1, min(left, SPECIAL + 1)))
        cuts_first = {size for size, _ in fits} != {len(first_whole)}
        cuts_second = {size for _, size in fits} != {len(second_whole)}
        if is_misfit and cuts_first != cuts_second:
            miscut.add(1 if cuts_first else 2)
    most_and_least = max(excess, default=0) + min(excess, default=0)
    return [mean(wrong), most_and_least, sum(miscut), mean(lost_front)]


def pairing(name: str, longest: int) -> dict[str, Any]:
    """Return the fields of a call with the text of this name, and this maximum length of a pair."""
    return {"inputs": name, "literals": {"documents": PUBLIC[name], "max_length": longest}}


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
PAIRS = sum(MANY) - len(MANY)
NEIGHBOURS = PAIRS - len(MANY)  # pairs that have one before them in their document
FALSE_PAIRS = int(0.42 * PAIRS)  # at least
ONE_SENTENCE = 1 / sum(MANY)
LENGTHS = Statistics(
    (
        Statistic("pairs are cut in the wrong place or not at all", 0.0, blur=2.0),
        Statistic("pairs that are cut have too many tokens, or too few", 0.0),
        Statistic("the wrong sentences are cut", 0.0),
        Statistic("sentences have lost their beginning", 0.0),
    ),
    cuts,
)
DRAWS = Statistics(
    (
        Statistic("the share of true pairs is off", 0.5, margin(PAIRS)),
        Statistic("coin tosses depend on earlier ones", 0.5, margin(NEIGHBOURS)),
        # each draw counts for 1, -1 or 0
        Statistic("first sentences are drawn more often than last", 0.0, 2 * margin(FALSE_PAIRS)),
        Statistic(
            "the same sentence is drawn again and again",
            ONE_SENTENCE,
            margin(FALSE_PAIRS, ONE_SENTENCE),
        ),
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
