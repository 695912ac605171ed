"""The sentences of private references: as many as in dev.txt, and none of them published."""

import random
from collections.abc import Iterable
from pathlib import Path

from instructor.language.grammar import Phrase, Writer
from instructor.language.lexicon import WHOLE
from instructor.language.write_data import (
    CARD_NAME,
    SIZES,
    draw_split,
    draw_splits,
    labelled_lines,
    recorded_seed,
)

LEAST = 16  # characters of a sentence


def _is_of_the_grammar(data: Path) -> bool:
    splits = draw_splits(recorded_seed((data / CARD_NAME).read_text(encoding="utf-8")))
    return all(
        (data / f"{name}.txt").read_text(encoding="utf-8") == labelled_lines(phrases)
        for name, phrases in splits.items()
    )


def unpublished(seed: int, published: bytes) -> list[Phrase]:
    """Draw sentences, half of each label, that are no part of anything published.

    Those that are too short to be told from common text are left out.
    """
    rng = random.Random(f"{seed} hidden")
    taken = set[str]()
    half = SIZES["dev"] // 2
    by_label: dict[int, list[Phrase]] = {1: [], 0: []}
    while min(map(len, by_label.values())) < half:
        for phrase in draw_split(Writer(rng, WHOLE), SIZES["dev"], taken):
            if len(phrase.words) >= LEAST and phrase.words.encode() not in published:
                by_label[phrase.label].append(phrase)
    sentences = by_label[1][:half] + by_label[0][:half]
    rng.shuffle(sentences)
    return sentences


def hidden_sentences(seed: int, folder: Path, contents: Iterable[bytes]) -> str | None:
    """Draw as many sentences as dev.txt has, none of which occurs in anything published.

    Returns: `label ||| sentence` lines; None if the folder's sentences are not the grammar's.
    """
    if not _is_of_the_grammar(folder / "data"):
        return None
    return labelled_lines(unpublished(seed, b"\0".join(contents)))
