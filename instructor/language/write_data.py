"""Write the data: `python -m instructor.language.write_data [--seed N] [--check]`.

The grammar and the seed determine every byte of data/, on every machine.
"""

import argparse
import itertools
import random
import re
import sys
from collections.abc import Collection, Iterable, Sequence

from instructor import ROOT
from instructor.language.baselines import baseline_table
from instructor.language.data_card import data_card
from instructor.language.grades import GradedWriter
from instructor.language.grammar import Phrase, Writer
from instructor.language.lexicon import FILMS
from instructor.language.reviews import running_text, write_reviews
from tensormark.files import between, put_between, write_whole

DATA = ROOT / "data"
SEED = 2026
SIZES = {"train": 4000, "dev": 1200, "test": 1200}
GRADED_SIZES = {"train": 6000, "dev": 1200, "test": 1200}
REVIEWS = 20_000
GRADED_REVIEWS = 5000
CARD_NAME = "README.md"


def draw_split(writer: Writer, size: int, taken: set[str]) -> list[Phrase]:
    """Draw sentences that are not in `taken`, with balanced labels; add them to `taken`."""
    wanted = [int(size * writer.most)] * writer.labels
    phrases: list[Phrase] = []
    while len(phrases) < size:
        phrase = writer.sentence(writer.rng.choice(FILMS))
        if wanted[phrase.label] and phrase.words not in taken:
            wanted[phrase.label] -= 1
            taken.add(phrase.words)
            phrases.append(phrase)
    return phrases


def draw_splits(
    seed: int | str,
    kind: type[Writer] = Writer,
    sizes: dict[str, int] = SIZES,
    published: Collection[str] = (),
) -> dict[str, list[Phrase]]:
    """Draw the three splits; only the training split is limited to a part of the opinion words.

    Args:
        published: sentences that may not be in the test split.
    """
    taken: set[str] = set()
    splits = {}
    for name, size in sizes.items():
        if name == "test":
            taken.update(published)
        words = kind.known if name == "train" else kind.every
        splits[name] = draw_split(kind(random.Random(f"{seed} {name}"), words), size, taken)
    return splits


def draw_grades(seed: int) -> tuple[dict[str, list[Phrase]], list[list[str]]]:
    """Draw the three splits with five grades, and reviews that rate no test sentence."""
    reviewer = GradedWriter(random.Random(f"{seed} grades reviews"), GradedWriter.every)
    reviews = [reviewer.review() for _ in range(GRADED_REVIEWS)]
    rated = {f"{line.partition(' : ')[0]} ." for line in itertools.chain(*reviews)}
    return draw_splits(f"{seed} grades", GradedWriter, GRADED_SIZES, rated), reviews


def labelled_lines(phrases: Iterable[Phrase]) -> str:
    """Write `label ||| sentence` lines."""
    return "".join(f"{phrase.label} ||| {phrase.words}\n" for phrase in phrases)


def _make_texts(seed: int) -> dict[str, str]:
    """Return the text of every file, by name; the card's marked sections are empty."""
    splits = draw_splits(seed)
    texts = {f"{name}.txt": labelled_lines(phrases) for name, phrases in splits.items()}
    reviews = write_reviews(random.Random(f"{seed} reviews"), REVIEWS)
    texts["pretraining.txt"] = running_text(reviews)
    grades, graded = draw_grades(seed)
    texts |= {f"grades/{name}.txt": labelled_lines(phrases) for name, phrases in grades.items()}
    texts["grades/pretraining.txt"] = running_text(graded)
    return texts | {CARD_NAME: data_card(seed, splits, reviews)}


def recorded_seed(card: str) -> int:
    """Read the seed from the card of the existing data; without a card, return the default."""
    match = re.search(r"--seed (\d+)", between(card, "seed"))
    return int(match[1]) if match else SEED


def _drifted(texts: dict[str, str]) -> list[str]:
    """List the files that are not byte for byte what they should be."""
    return [
        f"{DATA / name}: differs from the grammar's output"
        for name, text in texts.items()
        if not (DATA / name).is_file() or (DATA / name).read_bytes() != text.encode()
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the data, or with --check compare only; return the exit status."""
    parser = argparse.ArgumentParser(description="Write data/ from the grammar.")
    parser.add_argument(
        "--seed", type=int, help="seed of the sentences (default: that of the existing data)"
    )
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 on drift")
    options = parser.parse_args(arguments)
    card_path = DATA / CARD_NAME
    old_card = card_path.read_text(encoding="utf-8") if card_path.is_file() else ""
    seed = recorded_seed(old_card) if options.seed is None else options.seed
    texts = _make_texts(seed)
    # filled in by other commands; scikit-learn versions may differ
    for mark in ("gate", "grades", "baselines"):
        texts[CARD_NAME] = put_between(texts[CARD_NAME], mark, between(old_card, mark))
    if options.check:
        faults = _drifted(texts)
        print("\n".join(faults) or f"{DATA}: up to date, seed {seed}")
        return 1 if faults else 0
    texts[CARD_NAME] = put_between(texts[CARD_NAME], "baselines", f"\n{baseline_table(texts)}\n")
    (DATA / "grades").mkdir(exist_ok=True)
    for name, text in texts.items():
        write_whole(DATA / name, text)
        print(f"{DATA / name}: {len(text.encode()):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
