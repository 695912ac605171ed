"""Sentences with a grade, from 0 (very bad) to 4 (very good), and opinions with a rating.

A phrase has a value: an opinion word has its own, and every rule multiplies or weighs the values of
its parts. The grade is the value plus 2, rounded after a little noise: people disagree about what
is on a border, so not even who knows the grammar is always right.
"""

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import replace

from instructor.language.grammar import SPEAKERS, Phrase, Writer
from instructor.language.lexicon import FILMS, QUARTER, WHOLE, Film, Lexicon

GRADES = 5
NOISE = 0.2  # standard deviation of what is added to a value before it is rounded
STRONG, MILD = 2.0, 0.7  # what an opinion word is worth
STRONG_WORDS = frozenset(
    """brilliant gripping inspired masterful poignant delightful superb thrilling memorable moving
    joyful wonderful dreadful stupid pointless lifeless annoying dreary awful painful ugly boring
    tedious cheap epic grand divine lush magic great vile dire lousy inept trashy rotten""".split()
)
# The checkpoint has never seen these, and the training split has none of them.
NEW_WORDS = {
    1: tuple("epic grand divine lush magic great neat fine deft keen sweet nice".split()),
    -1: tuple("vile dire lousy inept trashy rotten tame drab limp trite corny slow".split()),
}
EVERY = Lexicon({sign: WHOLE.adjectives[sign] + NEW_WORDS[sign] for sign in (1, -1)}, WHOLE.nouns)


def _weighed(table: str) -> list[tuple[str, list[float]]]:
    """Read a table: what the parts of a form weigh, then the form."""
    rows = [row.split("|") for row in table.strip().splitlines()]
    return [(form.strip(), [float(weight) for weight in weights.split()]) for weights, form in rows]


CLAUSES = _weighed(
    """
    1 | is {adjective}
    1 | is always {adjective}
    1.6 | is very {adjective}
    1.6 | is really {adjective}
    2 | could not be more {adjective}
    0.6 | is rather {adjective}
    0.4 | is a bit {adjective}
    -0.6 | is not {adjective}
    -0.3 | is not very {adjective}
    -0.3 | is not really {adjective}
    0.2 | is not that {adjective}
    -1.5 | is not {adjective} at all
    -1.2 | is anything but {adjective}
    -0.8 | is far from {adjective}
    -0.6 | is hardly {adjective}
    1.2 | never fails to be {adjective}
    -1 | wants to be {adjective} and fails
    1.7 | is full of {noun}
    1.2 | has a lot of {noun}
    0.5 | has a bit of {noun}
    -1 | lacks {noun}
    -1.6 | has no {noun} at all
    """
)
# {} is a clause
OPINIONS = _weighed(
    """
    0.8 | i think that {}
    1.2 | nobody can deny that {}
    -0.7 | i do not think that {}
    -1 | it is not true that {}
    0.7 | i do not doubt that {}
    -0.4 | i doubt that {}
    1 | {speaker} say that {} , and i agree
    1 | {speaker} say that {} , and they are right
    -1 | {speaker} say that {} , and they are wrong
    -0.7 | {speaker} say that {} , but i disagree
    0.5 | {speaker} say that {} , and they are not all wrong
    """
)
# {} is a clause, the first perhaps with an opinion
PAIRS = _weighed(
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
    noise = statistics.NormalDist(value, NOISE)
    borders = [0.0, *(noise.cdf(grade - 1.5) for grade in range(GRADES - 1)), 1.0]
    return [high - low for low, high in itertools.pairwise(borders)]


def ceiling(phrases: Sequence[Phrase]) -> float:
    """Return the expected accuracy of who knows every value, and says the likeliest grade."""
    return statistics.mean(max(chances(phrase.value)) for phrase in phrases)


class GradedWriter(Writer):
    """Draws sentences with a value and a grade."""

    known = QUARTER
    every = EVERY
    labels = GRADES
    most = 1.0  # a balance would move the chances, and so the ceiling

    def clause(self, subject: str) -> Phrase:
        """Say what the film is or has: "harbor is a bit dull"."""
        form, (weight,) = self.rng.choice(CLAUSES)
        kind, words = "adjective", self.lexicon.adjectives
        if "{noun}" in form:
            kind, words = "noun", self.lexicon.nouns
        sign = self.sign()
        strong = self.rng.random() < 0.5
        fitting = [word for word in words[sign] if (word in STRONG_WORDS) == strong]
        word = self.rng.choice(fitting or words[sign])
        value = weight * sign * (STRONG if word in STRONG_WORDS else MILD)
        return Phrase(f"{subject} {form.format(**{kind: word})}", value, ())

    def opinion(self, subject: str) -> Phrase:
        """Agree with a clause, more or less: "i doubt that harbor is dull"."""
        form, (weight,) = self.rng.choice(OPINIONS)
        inner = self.clause(subject)
        words = form.format(inner.words, speaker=self.rng.choice(SPEAKERS))
        return Phrase(words, weight * inner.value, ())

    def pair(self, subject: str) -> Phrase:
        """Say two things: after "but", the second counts, after "and", both do."""
        form, weights = self.rng.choice(PAIRS)
        rule = self.rng.choice((self.clause, self.opinion))
        parts = [rule(subject), self.clause(self.pronoun())]
        value = sum(weight * part.value for weight, part in zip(weights, parts, strict=True))
        return Phrase(form.format(*(part.words for part in parts)), value, ())

    def graded(self, phrase: Phrase) -> Phrase:
        """End a sentence, and draw its grade."""
        (grade,) = self.rng.choices(range(GRADES), chances(phrase.value))
        return replace(self.full_stop(phrase), grade=grade)

    def sentence(self, film: Film) -> Phrase:
        """Draw a whole sentence about a film, and its grade."""
        rules = (self.clause, self.opinion, self.pair)
        (rule,) = self.rng.choices(rules, weights=(3, 6, 5))
        return self.graded(rule(self.subject(film)))

    def review(self) -> list[str]:
        """Write two short opinions of a film with the same rating, from 1 to 5."""
        film = self.rng.choice(FILMS)
        grade = self.rng.randrange(GRADES)
        text: list[str] = []
        while len(text) < 2:
            phrase = self.clause(self.subject(film))
            if self.graded(phrase).grade == grade:
                text.append(f"{phrase.words} : {grade + 1} / {GRADES} .")
        return text
