"""Measure how well the checkpoint fills the [MASK] in 200 sentences (`make probes`).

A guess counts if the grammar of instructor/language/grammar.py can produce the completed sentence,
and if the word is of the same kind as the original. Kinds are adjectives, positive or negative
nouns, titles, leads, genres, aspects and rivals; every other word is its own kind, for which the
grammar alone decides. solution/ must be on PYTHONPATH.
"""

import argparse
import functools
import random
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from instructor import ROOT
from instructor.language.grammar import Writer
from instructor.language.lexicon import (
    ASPECTS,
    BAD_ADJECTIVES,
    BAD_NOUNS,
    FILMS,
    GENRES,
    GOOD_ADJECTIVES,
    GOOD_NOUNS,
    LEADS,
    RIVALS,
    TITLES,
    WHOLE,
)

import observe
from pretraining import BertForPreTraining
from tokenizer import BertTokenizer

COUNT = 200
SEED = 2026
# This many random sentences contain all but the rarest patterns; a missing pattern counts as
# ungrammatical, so the result can only be too low.
SAMPLE = 300_000
MASK = "[MASK]"

KINDS: dict[str, Iterable[str]] = {
    "ADJECTIVE": GOOD_ADJECTIVES + BAD_ADJECTIVES,
    "NOUN": GOOD_NOUNS + BAD_NOUNS,
    "TITLE": TITLES,
    "LEAD": LEADS,
    "GENRE": GENRES,
    "ASPECT": ASPECTS,
    "RIVAL": RIVALS,
}
KIND_OF = {word: kind for kind, words in KINDS.items() for word in words}


@dataclass(frozen=True)
class Probe:
    """A sentence of the language, and the index of its hidden word."""

    words: tuple[str, ...]
    place: int

    @property
    def sentence(self) -> str:
        """Write the sentence with [MASK] for the hidden word."""
        return " ".join(self.with_word(MASK))

    def with_word(self, word: str) -> tuple[str, ...]:
        """Return the words with `word` in the hidden place."""
        return (*self.words[: self.place], word, *self.words[self.place + 1 :])


def pattern(words: Sequence[str]) -> str:
    """Replace the words of a sentence with their kinds."""
    return " ".join(KIND_OF.get(word, word) for word in words)


@functools.cache
def grammar(sample: int = SAMPLE) -> frozenset[str]:
    """Collect the patterns of many random sentences."""
    rng = random.Random(SEED)
    writer = Writer(rng, WHOLE)
    return frozenset(
        pattern(writer.sentence(rng.choice(FILMS)).words.split()) for _ in range(sample)
    )


def make_probes(count: int, seed: int) -> list[Probe]:
    """Draw sentences, and hide one word of each, never the full stop."""
    rng = random.Random(f"probes {seed}")
    writer = Writer(rng, WHOLE)
    sentences = [tuple(writer.sentence(rng.choice(FILMS)).words.split()) for _ in range(count)]
    return [Probe(words, rng.randrange(len(words) - 1)) for words in sentences]


def fits(probe: Probe, guess: str, patterns: frozenset[str]) -> bool:
    """Return whether a guess is of the right kind, and its sentence one of the language."""
    if guess == probe.words[probe.place]:
        return True
    right = KIND_OF.get(probe.words[probe.place])
    return KIND_OF.get(guess) == right and pattern(probe.with_word(guess)) in patterns


def first_guesses(checkpoint: Path, probes: Sequence[Probe]) -> list[str]:
    """Ask the checkpoint, as `python visualize.py fill-mask` does, for its most likely token."""
    model = BertForPreTraining.from_pretrained(checkpoint)
    tokenizer = BertTokenizer.from_pretrained(checkpoint)
    return [observe.guess(model, tokenizer, probe.sentence)[0][0] for probe in probes]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the share of good guesses, and list the others."""
    parser = argparse.ArgumentParser(prog="probes", description="Fill gaps, count good guesses.")
    default = "(default: %(default)s)"
    checkpoint = ROOT / "checkpoint"
    parser.add_argument("--checkpoint", type=Path, default=checkpoint, help=f"folder {default}")
    parser.add_argument("--count", type=int, default=COUNT, help=f"number of sentences {default}")
    parser.add_argument("--seed", type=int, default=SEED, help=f"seed of the sentences {default}")
    options = parser.parse_args(arguments)
    probes = make_probes(options.count, options.seed)
    fitting = 0
    for probe, guess in zip(probes, first_guesses(options.checkpoint, probes), strict=True):
        if fits(probe, guess, grammar()):
            fitting += 1
        else:
            hidden = probe.words[probe.place]
            print(f"  {probe.sentence}  <- {guess}, not {hidden}", file=sys.stderr)
    print(f"first guesses that are grammatical and of the right kind: {fitting / len(probes):.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
