"""The sentences of private references: as many as in dev.txt, and none of them published."""

import random
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from instructor.language.grammar import Phrase
from instructor.language.lexicon import WHOLE
from instructor.language.write_data import (
    CARD_NAME,
    SIZES,
    draw_split,
    draw_splits,
    labelled_lines,
    recorded_seed,
)

Published = Callable[[Collection[str]], set[str]]  # selects the published ones of some sentences
LEAST = 16  # bytes of a sentence


def _is_of_the_grammar(data: Path) -> bool:
    splits = draw_splits(recorded_seed((data / CARD_NAME).read_text(encoding="utf-8")))
    return all(
        (data / f"{name}.txt").read_text(encoding="utf-8") == labelled_lines(phrases)
        for name, phrases in splits.items()
    )


def find_in(contents: Iterable[bytes]) -> Published:
    """Return a function that finds sentences in files, also as parts of other sentences.

    A sentence that is too short to be told from common text counts as found.
    """
    whole = b"\0".join(contents)

    def search(sentences: Collection[str]) -> set[str]:
        found = {sentence for sentence in sentences if len(sentence) < LEAST}
        beginning: dict[bytes, list[str]] = {}
        for sentence in {*sentences} - found:
            beginning.setdefault(sentence.encode()[:LEAST], []).append(sentence)
        for place in range(len(whole)):
            for sentence in beginning.get(whole[place : place + LEAST], ()):
                if whole.startswith(sentence.encode(), place):
                    found.add(sentence)
        return found

    return search


def unpublished(seed: int, published: Published) -> list[Phrase]:
    """Draw sentences that are not published, half of each label."""
    rng = random.Random(f"{seed} hidden")
    taken = set[str]()
    half = SIZES["dev"] // 2
    by_value: dict[int, list[Phrase]] = {1: [], -1: []}
    while min(map(len, by_value.values())) < half:
        phrases = draw_split(rng, WHOLE, SIZES["dev"], taken)
        public = published([phrase.words for phrase in phrases])
        for phrase in phrases:
            if phrase.words not in public:
                by_value[phrase.value].append(phrase)
    sentences = by_value[1][:half] + by_value[-1][:half]
    rng.shuffle(sentences)
    return sentences


def hidden_sentences(seed: int, folder: Path, contents: Iterable[bytes]) -> str | None:
    """Draw as many sentences as dev.txt has, none of which occurs in anything published.

    Returns: `label ||| sentence` lines; None if the folder's sentences are not the grammar's.
    """
    if not _is_of_the_grammar(folder / "data"):
        return None
    return labelled_lines(unpublished(seed, find_in(contents)))
