"""Texts for pre-training: short reviews of one film with one attitude each.

The texts contain clues for masked tokens and next sentences: every sentence of a review names its
film, by title, lead or genre; opinions and verdicts of a review agree with each other.
"""

import itertools
import random
from collections.abc import Sequence

from instructor.language.grammar import Phrase, Writer
from instructor.language.lexicon import FILMS, TITLES, VERDICTS, WHOLE, Film

# The opinions of a review are of one level: lists of words of one sign; "is" and "is not"; one
# clause of any kind; everything. Easier reviews come first in the text; a model that reads them
# first learns the rest sooner.
LEVELS = LISTS, NOT, ONE_CLAUSE, EVERYTHING = range(4)
SIMPLE_COPULAS = (("is", 1), ("is really", 1), ("is not", -1), ("is never", -1))
SHARES = (0.1, 0.15, 0.15, 0.6)  # of the reviews, by level
# Most opinions use words of the sign that they mean, as people do. If negations were as frequent
# as in the sentiment data, single words would say nothing about a verdict, and a model would have
# nothing to start learning from. Of the opinions with words of the opposite sign, the share kept,
# by level:
KEPT = (1.0, 0.3, 0.4, 0.5)
SIGNS = WHOLE.signs()


class Reviewer(Writer):
    """Writes reviews: facts and opinions about one film, and verdicts that agree with them."""

    def fact(self, film: Film) -> str:
        """Introduce the film without judging it."""
        forms = (
            f"{film.title} is a {film.genre} with {film.lead} .",
            f"{film.lead} plays the lead in {film.title} .",
            f"last night i saw {film.title} , a {film.genre} .",
            f"{film.title} is the new {film.genre} by {film.lead} .",
        )
        return self.rng.choice(forms)

    def verdict(self, film: Film, value: int) -> str:
        """Sum up: stars, thumbs, a noun or advice, all of one value."""
        stars, thumb, grade, noun, advice, adverb = VERDICTS[value]
        adjective = self.adjective(value)
        article = "an" if adjective[0] in "aeiou" else "a"
        forms = (
            f"{film.title} gets {stars} .",
            f"{stars} for {film.lead} in {film.title} .",
            f"thumbs {thumb} for {film.title} .",
            f"{film.title} is a {grade} {film.genre} .",
            f"in short , {film.title} is a {noun} .",
            f"{film.title} is {article} {adjective} {noun} .",
            f"{advice} {film.title} , the {film.genre} .",
            f"{adverb} , {advice} {film.title} .",
            f"{film.title} : {stars} , thumbs {thumb} .",
            f"{adverb} , {film.title} is a {grade} {film.genre} , {stars} .",
        )
        return self.rng.choice(forms)

    def enumeration(self, subject: str) -> Phrase:
        """List words of one sign: "harbor is dull , flat and clumsy"."""
        sign = self.sign()
        if self.rng.random() < 0.7:
            first, second, third = self.rng.sample(self.lexicon.adjectives[sign], 3)
            return Phrase(f"{subject} is {first} , {second} and {third}", sign, ("list",))
        first, second = self.rng.sample(self.lexicon.nouns[sign], 2)
        words = f"{subject} is {self.adjective(sign)} and full of {first} and {second}"
        return Phrase(words, sign, ("list",))

    def simple(self, subject: str) -> Phrase:
        """Say what the film is or is not: "harbor is never dull"."""
        copula, turn = self.rng.choice(SIMPLE_COPULAS)
        sign = self.sign()
        return Phrase(f"{subject} {copula} {self.adjective(sign)}", turn * sign, ("simple",))

    def opinion(self, film: Film, value: int, level: int) -> str:
        """Draw sentences of this level until one has this value."""
        clauses = (self.description, self.possession, self.pair, self.comparison, self.attempt)
        rules = {LISTS: (self.enumeration,), NOT: (self.simple,), ONE_CLAUSE: clauses}
        while True:
            if level == EVERYTHING:
                phrase = self.sentence(film)
            else:
                phrase = self.full_stop(self.rng.choice(rules[level])(film.title))
            pointed = value * sum(SIGNS.get(word, 0) for word in phrase.words.split())
            if phrase.value == value and (pointed >= 0 or self.rng.random() < KEPT[level]):
                return phrase.words

    def review(self, level: int) -> list[str]:
        """Write one review, of two to five sentences."""
        film = self.rng.choice(FILMS)
        value = self.sign()
        text = [self.fact(film)] if self.rng.random() < 0.3 else []
        for _ in range(self.rng.choice((1, 2, 2))):
            text.append(self.opinion(film, value, level))
            text.append(self.verdict(film, value))
        return text


def film_of(review: Sequence[str]) -> str:
    """Name the film of a review: its last sentence, a verdict, names the title, and no other."""
    return next(word for word in review[-1].split() if word in TITLES)


def level_of(index: int, count: int) -> int:
    """Return the level of review `index` of `count`."""
    bounds = itertools.accumulate(SHARES[:EVERYTHING])
    return sum(index >= bound * count for bound in bounds)


def write_reviews(rng: random.Random, count: int) -> list[list[str]]:
    """Write reviews, the easy ones first."""
    reviewer = Reviewer(rng, WHOLE)
    return [reviewer.review(level_of(index, count)) for index in range(count)]


def running_text(reviews: Sequence[Sequence[str]]) -> str:
    """Write one sentence per line, and an empty line between reviews."""
    return "\n".join("".join(f"{sentence}\n" for sentence in review) for review in reviews)
