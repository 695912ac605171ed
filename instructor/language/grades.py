"""Sentences with a grade, from 0 (very bad) to 4 (very good), and reviews with a rating.

A phrase has a value: an opinion word is worth 1 or 2, or the opposite, and every rule multiplies or
weighs the values of its parts. The grade is the value plus 2, rounded after a little noise: people
disagree about what is on a border, so not even who knows the grammar is always right.
"""

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

from instructor.language.grammar import SPEAKERS, Phrase, Writer
from instructor.language.lexicon import FILMS, Film

GRADES = 5
NOISE = 0.2  # standard deviation of a value before it is rounded
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
    0.2 0.9 | {} , yet {}
    0.2 0.9 | although {} , {}
    0.9 0.2 | {} , although {}
    0.9 0.2 | {} , even though {}
    0.5 0.5 | {} and {}
    0.5 0.5 | {} , and {}
    """
)


def chances(value: float) -> list[float]:
    """Return the probability of each grade for a sentence of this value."""
    noise = NormalDist(value, NOISE)
    borders = [0.0, *(noise.cdf(grade - 1.5) for grade in range(GRADES - 1)), 1.0]
    return [high - low for low, high in itertools.pairwise(borders)]


def ceiling(phrases: Sequence[Phrase]) -> float:
    """Return the expected accuracy of who knows every value: the most likely grade is right."""
    return statistics.mean(max(chances(phrase.value)) for phrase in phrases)


class GradedWriter(Writer):
    """Draws sentences with a value and a grade."""

    labels = GRADES
    most = 1.0  # a balance would move the chances, and so the ceiling

    def word(self, words: dict[int, tuple[str, ...]]) -> tuple[str, float]:
        """Draw a word of either sign, as often strong as mild; return it with its value."""
        sign = self.sign()
        strong = self.rng.random() < 0.5
        fitting = [word for word in words[sign] if (word in STRONG) == strong]
        word = self.rng.choice(fitting or words[sign])
        return word, sign * (2.0 if word in STRONG else 1.0)

    def clause(self, subject: str) -> Phrase:
        """Say what the film is or has: "harbor is a bit dull"."""
        forms, words = COPULAS, self.lexicon.adjectives
        if self.rng.random() < 0.2:
            forms, words = POSSESSIONS, self.lexicon.nouns
        form, (weight,) = self.rng.choice(forms)
        word, value = self.word(words)
        return Phrase(f"{subject} {form.format(word)}", weight * value, ())

    def opening(self, subject: str) -> Phrase:
        """Agree with a clause, more or less: "i doubt that harbor is dull"."""
        form, (weight,) = self.rng.choice(FRAMES)
        inner = self.clause(subject)
        return Phrase(form.format(inner.words), weight * inner.value, ())

    def attribution(self, subject: str) -> Phrase:
        """Quote somebody, and agree, more or less."""
        form, (weight,) = self.rng.choice(QUOTATIONS)
        inner = self.clause(subject)
        quoted = f"{self.rng.choice(SPEAKERS)} say that {inner.words}"
        return Phrase(form.format(quoted), weight * inner.value, ())

    def contrast(self, subject: str) -> Phrase:
        """Say two things: after "but", the second counts, after "and", both do."""
        form, weights = self.rng.choice(JOINTS)
        rule = self.rng.choice((self.clause, self.clause, self.opening, self.attribution))
        parts = [rule(subject), self.clause(self.pronoun())]
        values = [weight * part.value for weight, part in zip(weights, parts, strict=True)]
        return Phrase(form.format(*(part.words for part in parts)), sum(values), ())

    def sentence(self, film: Film) -> Phrase:
        """Draw a whole sentence about a film, and its grade."""
        rules = (self.clause, self.opening, self.attribution, self.contrast)
        (rule,) = self.rng.choices(rules, weights=(3, 3, 3, 5))
        return self.graded(rule(self.subject(film)))

    def graded(self, phrase: Phrase) -> Phrase:
        """End a sentence, and draw its grade."""
        (grade,) = self.rng.choices(range(GRADES), chances(phrase.value))
        return replace(self.full_stop(phrase), grade=grade)

    def review(self) -> list[str]:
        """Write two short opinions of a film with the same number of stars, from 1 to 5."""
        film = self.rng.choice(FILMS)
        grade = self.rng.randrange(GRADES)
        text: list[str] = []
        while len(text) < 2:
            phrase = self.clause(self.subject(film))
            if self.graded(phrase).grade == grade:
                text.append(f"{phrase.words} : {grade + 1} / {GRADES} .")
        return text
