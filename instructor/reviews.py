"""Running texts for pre-training: short reviews of one film with one attitude each.

What a masked token or a next sentence can be told from is planted here. Every sentence of a review
names its film, by title, lead or genre; opinions and verdicts of a review agree with each other.
"""

import random
from collections.abc import Sequence

from instructor.language import Phrase, Writer
from instructor.lexicon import FILMS, VERDICTS, WHOLE, Film

# Shares of the reviews that are easier: opinions that only list words of one sign, and opinions of
# one clause. They come first, and a model that begins with them learns the rest sooner.
LISTS, ONE_CLAUSE, EVERYTHING = range(3)
SHARES = {LISTS: 0.2, ONE_CLAUSE: 0.2}


def article(word: str) -> str:
    """Choose "a" or "an"."""
    return "an" if word[0] in "aeiou" else "a"


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
        forms = (
            f"{film.title} gets {stars} .",
            f"{stars} for {film.lead} in {film.title} .",
            f"thumbs {thumb} for {film.title} .",
            f"{film.title} is a {grade} {film.genre} .",
            f"in short , {film.title} is a {noun} .",
            f"{film.title} is {article(adjective)} {adjective} {noun} .",
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

    def opinion(self, film: Film, value: int, level: int) -> str:
        """Draw sentences of this level until one has this value."""
        while True:
            if level == EVERYTHING:
                phrase = self.sentence(film)
            else:
                clauses = (self.description, self.possession, self.pair)
                rule = self.enumeration if level == LISTS else self.rng.choice(clauses)
                phrase = self.full_stop(rule(film.title))
            if phrase.value == value:
                return phrase.words

    def review(self, level: int) -> list[str]:
        """Write one review, of two to five sentences."""
        film, value = self.rng.choice(FILMS), self.sign()
        text = [self.fact(film)] if self.rng.random() < 0.3 else []
        for _ in range(self.rng.choice((1, 2, 2))):
            text.append(self.opinion(film, value, level))
            text.append(self.verdict(film, value))
        return text


def levels(count: int) -> list[int]:
    """Say how many of `count` reviews are read when nothing harder than a level is."""
    lists = int(count * SHARES[LISTS])
    return [lists, lists + int(count * SHARES[ONE_CLAUSE]), count]


def write_reviews(rng: random.Random, count: int) -> list[list[str]]:
    """Write reviews, the easy ones first: whoever learns to read them can begin there."""
    reviewer, bounds = Reviewer(rng, WHOLE), levels(count)
    return [
        reviewer.review(next(level for level, bound in enumerate(bounds) if number < bound))
        for number in range(count)
    ]


def running_text(reviews: Sequence[Sequence[str]]) -> str:
    """Write a sentence a line, and an empty line between reviews."""
    return "\n".join("".join(f"{sentence}\n" for sentence in review) for review in reviews)


def read_reviews(text: str) -> list[list[str]]:
    """Read what `running_text` wrote."""
    return [review.splitlines() for review in text.strip().split("\n\n")]
