"""The sentences of private references: as many as dev.txt has, and in nothing that is published."""

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
from tensormark.release.needles import WINDOW, Needles

Published = Callable[[Collection[str]], set[str]]  # those of some sentences that are published


def _is_of_the_grammar(data: Path) -> bool:
    splits = draw_splits(recorded_seed((data / CARD_NAME).read_text(encoding="utf-8")))
    return all(
        (data / f"{name}.txt").read_text(encoding="utf-8") == labelled_lines(phrases)
        for name, phrases in splits.items()
    )


def among(contents: Iterable[bytes]) -> Published:
    """Return what finds sentences in files, as parts of other sentences, too.

    One that is too short to be searched for in a release counts as found.
    """
    whole = b"\0".join(contents)

    def found(sentences: Collection[str]) -> set[str]:
        short = {sentence for sentence in sentences if len(sentence) < WINDOW}
        needles = Needles({sentence.encode(): sentence for sentence in {*sentences} - short})
        return short | set(needles.search(whole).values())

    return found


def unpublished(seed: int, published: Published) -> list[Phrase]:
    """Draw sentences that are not published, half of each label."""
    rng, taken = random.Random(f"{seed} hidden"), set[str]()
    half = SIZES["dev"] // 2
    by_value: dict[int, list[Phrase]] = {1: [], -1: []}
    while min(map(len, by_value.values())) < half:
        drawn = draw_split(rng, WHOLE, SIZES["dev"], taken)
        known = published([phrase.words for phrase in drawn])
        for phrase in drawn:
            if phrase.words not in known:
                by_value[phrase.value].append(phrase)
    sentences = by_value[1][:half] + by_value[-1][:half]
    rng.shuffle(sentences)
    return sentences


def hidden_sentences(seed: int, folder: Path, contents: Iterable[bytes]) -> str | None:
    """Draw as many sentences as dev.txt has, none of which stands in anything that is published.

    Returns: `label ||| sentence` lines; None if the folder's sentences are not the grammar's.
    """
    if not _is_of_the_grammar(folder / "data"):
        return None
    return labelled_lines(unpublished(seed, among(contents)))
