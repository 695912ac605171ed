"""Measure how well the checkpoint fills the [MASK] in 200 sentences (`make probes`).

A guess counts if the grammar of instructor/language/grammar.py can produce the completed sentence,
and if the word is of the same kind as the original. Kinds are adjectives, positive or negative
nouns, titles, leads, genres, aspects and rivals; every other word is its own kind, for which the
grammar alone decides.
"""

import argparse
import collections
import functools
import importlib
import random
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from instructor import ROOT
from instructor.language.grammar import Writer
from instructor.language.lexicon import ASPECTS, FILMS, RIVALS, WHOLE
from instructor.on_solution import again_on_solution

COUNT = 200
SEED = 2026
# This many random sentences contain all but the rarest patterns; a missing pattern counts as
# ungrammatical, so the result can only be too low.
SAMPLE = 300_000
MASK = "[MASK]"

KINDS: dict[str, Iterable[str]] = {
    "ADJECTIVE": [word for words in WHOLE.adjectives.values() for word in words],
    "NOUN": [word for words in WHOLE.nouns.values() for word in words],
    "TITLE": [film.title for film in FILMS],
    "LEAD": [film.lead for film in FILMS],
    "GENRE": [film.genre for film in FILMS],
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
    observe: Any = importlib.import_module("observe")
    model = importlib.import_module("pretraining").BertForPreTraining.from_pretrained(checkpoint)
    tokenizer = importlib.import_module("tokenizer").BertTokenizer.from_pretrained(checkpoint)
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
    if (status := again_on_solution("instructor.pretraining.probes", arguments)) is not None:
        return status
    probes, patterns = make_probes(options.count, options.seed), grammar()
    guesses = first_guesses(options.checkpoint, probes)
    tally: collections.Counter[str] = collections.Counter()
    for probe, guess in zip(probes, guesses, strict=True):
        kind = KIND_OF.get(probe.words[probe.place], "other words").lower()
        tally[kind] += 1
        if fits(probe, guess, patterns):
            tally[f"{kind} that fit"] += 1
        else:
            print(
                f"  {probe.sentence}  <- {guess}, not {probe.words[probe.place]}", file=sys.stderr
            )
    fitting = sum(count for name, count in tally.items() if name.endswith("that fit"))
    for kind in sorted(name for name in tally if not name.endswith("that fit")):
        print(f"{kind:<12} {tally[f'{kind} that fit']:>4} of {tally[kind]}")
    print(f"first guesses that are grammatical and of the right kind: {fitting / len(probes):.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
