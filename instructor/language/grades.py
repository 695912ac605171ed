"""Sentences with a grade, from 0 (very bad) to 4 (very good), and reviews that end with stars.

A phrase has a value on a scale from -2 to 2: an opinion word has a sign and a strength, and every
rule multiplies or weighs what its parts are worth. The grade is the value, rounded after a little
noise: people disagree about what is on a border, and not even the grammar knows it.
"""

import random
from collections.abc import Sequence
from statistics import NormalDist

from instructor.language.grammar import SPEAKERS, Phrase, Writer
from instructor.language.lexicon import FILMS, RIVALS, Film, Lexicon

GRADES = 5
NOISE = 0.25  # standard deviation of a value before it is rounded
STRONG = frozenset(
    """brilliant gripping inspired masterful poignant delightful superb thrilling memorable moving
    joyful wonderful dreadful stupid pointless lifeless annoying dreary awful painful ugly boring
    tedious cheap""".split()
)


def _weighed(table: str) -> list[tuple[str, list[float]]]:
    """Read a table: the weights of a form's parts, then the form."""
    rows = [row.split("|") for row in table.strip().splitlines()]
    return [(form.strip(), [float(weight) for weight in weights.split()]) for weights, form in rows]


# {} is an adjective
COPULAS = _weighed(
    """
    1 | is {}
    1 | is {}
    1.6 | is very {}
    1.6 | is really {}
    2 | could not be more {}
    0.6 | is rather {}
    0.4 | is a bit {}
    -0.6 | is not {}
    -0.3 | is not very {}
    -0.3 | is not really {}
    0.2 | is not that {}
    -1.5 | is not {} at all
    -1.2 | is anything but {}
    -0.8 | is far from {}
    -0.6 | is hardly {}
    1.2 | never fails to be {}
    -1 | wants to be {} and fails
    """
)
# {} is a noun
POSSESSIONS = _weighed(
    """
    1.7 | is full of {}
    1.2 | has a lot of {}
    0.5 | has a bit of {}
    -1 | lacks {}
    -1.6 | has no {} at all
    -0.5 | does not have a lot of {}
    0.6 | does not lack {}
    """
)
# {} is a clause
FRAMES = _weighed(
    """
    0.8 | i think that {}
    1.2 | nobody can deny that {}
    -0.7 | i do not think that {}
    -1 | it is not true that {}
    0.7 | i do not doubt that {}
    -0.4 | i doubt that {}
    """
)
# {} is what others say
QUOTATIONS = _weighed(
    """
    1 | {} , and i agree
    1 | {} , and they are right
    -1 | {} , and they are wrong
    -0.7 | {} , but i disagree
    0.5 | {} , and they are not all wrong
    """
)
# each {} is a clause
JOINTS = _weighed(
    """
    0.2 0.9 | {} , but {}
    0.2 0.9 | although {} , {}
    0.9 0.2 | {} , although {}
    0.9 0.2 | {} , even though {}
    0.5 0.5 | {} , and {}
    0.5 0.5 | {} , yet {}
    """
)


def chances(value: float) -> list[float]:
    """Return the probability of each grade of a phrase of this value."""
    noise = NormalDist(value, NOISE)
    below = [0.0, *(noise.cdf(grade - 1.5) for grade in range(GRADES - 1)), 1.0]
    return [high - low for low, high in zip(below, below[1:])]


class GradedWriter(Writer):
    """Draws phrases whose value is a number, and their grades."""

    def word(self, words: dict[int, tuple[str, ...]]) -> tuple[str, float]:
        sign = self.sign()
        strong = self.rng.random() < 0.5
        fitting = [word for word in words[sign] if (word in STRONG) == strong] or words[sign]
        word = self.rng.choice(fitting)
        return word, sign * (2.0 if word in STRONG else 1.0)

    def describe(self, subject: str) -> Phrase:
        """Say what the film is or has: "harbor is a bit dull"."""
        forms, words, rule = self.rng.choices(
            (
                (COPULAS, self.lexicon.adjectives, "description"),
                (POSSESSIONS, self.lexicon.nouns, "possession"),
            ),
            weights=(4, 1),
        )[0]
        form, (weight,) = self.rng.choice(forms)
        word, worth = self.word(words)
        return Phrase(f"{subject} {form.format(word)}", weight * worth, (rule,))

    def frame(self, subject: str) -> Phrase:
        form, (weight,) = self.rng.choice(FRAMES)
        inner = self.describe(subject)
        return Phrase(form.format(inner.words), weight * inner.value, ("attitude", *inner.rules))

    def quote(self, subject: str) -> Phrase:
        form, (weight,) = self.rng.choice(QUOTATIONS)
        inner = self.describe(subject)
        quoted = f"{self.rng.choice(SPEAKERS)} say that {inner.words}"
        return Phrase(form.format(quoted), weight * inner.value, ("quotation", *inner.rules))

    def join(self, subject: str) -> Phrase:
        form, weights = self.rng.choice(JOINTS)
        rule = self.rng.choice((self.describe, self.describe, self.frame, self.quote))
        parts = [rule(subject), self.describe(self.pronoun())]
        value = sum(weight * part.value for weight, part in zip(weights, parts))
        words = form.format(*(part.words for part in parts))
        return Phrase(words, value, ("contrast", *parts[0].rules, *parts[1].rules))

    def sentence(self, film: Film) -> Phrase:
        rules = (self.describe, self.frame, self.quote, self.join)
        (rule,) = self.rng.choices(rules, weights=(3, 3, 3, 5))
        return self.full_stop(rule(self.subject(film)))

    def grade(self, value: float) -> int:
        return self.rng.choices(range(GRADES), chances(value))[0]

    def review(self) -> list[str]:
        """Write two opinions that give a film the same number of stars, from 1 to 5."""
        film = self.rng.choice(FILMS)
        stars = self.rng.randint(1, GRADES)
        text: list[str] = []
        while len(text) < 2:
            phrase = self.describe(self.subject(film))
            if self.grade(phrase.value) == stars - 1:
                text.append(f"{phrase.words} : {stars} stars .")
        return text
