"""A grammar of English film-review sentences whose meaning is computed.

A phrase has words and a value: +1 praises the film, -1 pans it. An opinion word has a sign; every
rule of the grammar builds a larger phrase and computes its value from its parts, as a reader does.
Negation reverses a value, a contrast takes that of its main clause, and so on, so neither the words
of a sentence nor short n-grams reveal its value.
"""

import random
from dataclasses import dataclass

from instructor.language.lexicon import ASPECTS, HALF, RIVALS, WHOLE, Film, Lexicon


def _signed(table: str) -> list[tuple[str, int]]:
    """Read a table: + marks what keeps the value of what follows (1), - what reverses it (-1)."""
    rows = (line.split(maxsplit=1) for line in table.strip().splitlines())
    return [(words, 1 if sign == "+" else -1) for sign, words in rows]


COPULAS = _signed(
    """
    + is
    + is really
    + is always
    + is nothing but
    + could not be more
    + never fails to be
    + does not stop being
    - is not
    - is never
    - is hardly
    - is far from
    - is anything but
    - could not be less
    - fails to be
    - is not at all
    """
)
POSSESSIONS = _signed(
    """
    + is full of
    + has a lot of
    + never runs out of
    + does not lack
    - is free of
    - lacks
    - has no
    - is without
    """
)
OPENINGS = _signed(
    """
    + i think that
    + i do not doubt that
    + nobody can deny that
    + it is true that
    - i do not think that
    - i doubt that
    - nobody can claim that
    - it is not true that
    """
)
SPEAKERS = ("the critics", "my friends", "most people", "the papers")
REPLIES = _signed(
    """
    + , and they are right
    + , and they are not wrong
    + , and i agree
    - , and they are wrong
    - , but they are not right
    - , but i disagree
    """
)
ATTEMPTS = _signed(
    """
    + tries to be {} and succeeds
    + wants to be {} , and it is
    - tries to be {} and fails
    - wants to be {} , but it is not
    """
)
# The positions of the main clause, and of the other one, which says the opposite.
CONTRASTS = (
    "{aside} , but {main}",
    "{aside} , yet {main}",
    "although {aside} , {main}",
    "even though {aside} , {main}",
    "{main} , although {aside}",
    "{main} , even though {aside}",
)


@dataclass(frozen=True)
class Phrase:
    """Words, what they say about the film (+1 or -1), and the rules that made them."""

    words: str
    value: float  # between -1 and +1, and beyond, only where there are grades
    rules: tuple[str, ...]
    grade: int | None = None  # of a whole sentence

    @property
    def label(self) -> int:
        """The class: the grade if there are grades, else 1 for praise and 0 for the opposite."""
        return int(self.value > 0) if self.grade is None else self.grade


class Writer:
    """Draws phrases about films with one generator and one list of opinion words."""

    known = HALF  # the opinion words of the training split
    every = WHOLE  # those of the others
    labels = 2
    most = 0.5  # the share of sentences that may have one label

    def __init__(self, rng: random.Random, lexicon: Lexicon) -> None:
        self.rng = rng
        self.lexicon = lexicon

    def sign(self) -> int:
        """Draw +1 or -1."""
        return self.rng.choice((1, -1))

    def adjective(self, value: int) -> str:
        """Draw an adjective of this sign."""
        return self.rng.choice(self.lexicon.adjectives[value])

    def subject(self, film: Film) -> str:
        """Name the film, or a part of it, by its title or its lead."""
        aspect = self.rng.choice(ASPECTS)
        forms = (
            film.title,
            f"the {aspect} of {film.title}",
            f"{film.lead} in {film.title}",
            f"the {film.genre} with {film.lead}",
        )
        return self.rng.choice(forms)

    def pronoun(self) -> str:
        """Refer again to the film that a sentence has named."""
        return self.rng.choice(("it", f"the {self.rng.choice(ASPECTS)}", "the film"))

    def description(self, subject: str) -> Phrase:
        """Say what the film is: "harbor is anything but dull"."""
        copula, turn = self.rng.choice(COPULAS)
        sign = self.sign()
        rule = "plain" if turn > 0 else "negation"
        return Phrase(f"{subject} {copula} {self.adjective(sign)}", turn * sign, (rule,))

    def possession(self, subject: str) -> Phrase:
        """Say what the film has: "harbor is free of flaws"."""
        verb, turn = self.rng.choice(POSSESSIONS)
        sign = self.sign()
        noun = self.rng.choice(self.lexicon.nouns[sign])
        return Phrase(f"{subject} {verb} {noun}", turn * sign, ("possession",))

    def pair(self, subject: str) -> Phrase:
        """Use two adjectives of one sign: "harbor is neither dull nor clumsy"."""
        sign = self.sign()
        turn = self.sign()
        first, second = self.rng.sample(self.lexicon.adjectives[sign], 2)
        both = f"both {first} and {second}" if turn > 0 else f"neither {first} nor {second}"
        return Phrase(f"{subject} is {both}", turn * sign, ("pair",))

    def comparison(self, subject: str) -> Phrase:
        """Compare the film with another: "harbor is better than the witty original"."""
        sign = self.sign()
        other = self.sign()
        rival = self.rng.choice(RIVALS)
        against = f"the {self.adjective(other)} {rival}"
        word = self.adjective(sign)
        its_own = self.adjective(-sign)
        forms = (
            (f"{subject} is {'better' if sign > 0 else 'worse'} than {against}", sign),
            (f"{subject} is more {word} than {against}", sign),
            (f"{subject} is less {word} than {against}", -sign),
            (f"unlike the {its_own} {rival} , {subject} is {word}", sign),
            (f"{subject} is {word} , unlike the {its_own} {rival}", sign),
        )
        words, value = self.rng.choice(forms)
        return Phrase(words, value, ("comparison",))

    def attempt(self, subject: str) -> Phrase:
        """Say what the film tries to be: "harbor tries to be witty and fails"."""
        form, turn = self.rng.choice(ATTEMPTS)
        sign = self.sign()
        words = f"{subject} {form.format(self.adjective(sign))}"
        return Phrase(words, turn * sign, ("attempt",))

    def clause(self, subject: str) -> Phrase:
        """Draw a simple clause."""
        return self.rng.choice((self.description, self.description, self.possession))(subject)

    def clause_of(self, value: float, subject: str) -> Phrase:
        """Draw clauses until one has this value."""
        while (clause := self.clause(subject)).value != value:
            pass
        return clause

    def opening(self, subject: str) -> Phrase:
        """Agree with a clause or not: "i do not think that harbor is dull"."""
        opening, turn = self.rng.choice(OPENINGS)
        inner = self.clause(subject)
        return Phrase(f"{opening} {inner.words}", turn * inner.value, ("attitude", *inner.rules))

    def attribution(self, subject: str) -> Phrase:
        """Quote somebody, and agree or not: "the critics call harbor dull , and they are wrong"."""
        reply, turn = self.rng.choice(REPLIES)
        who = self.rng.choice(SPEAKERS)
        sign = self.sign()
        inner = self.clause(subject)
        if self.rng.random() < 0.5:
            quoted = Phrase(f"call {subject} {self.adjective(sign)}", sign, ())
        else:
            quoted = Phrase(f"say that {inner.words}", inner.value, ())
        return Phrase(f"{who} {quoted.words} {reply}", turn * quoted.value, ("quotation",))

    def contrast(self, subject: str) -> Phrase:
        """Contrast two opposite clauses: the main one decides, wherever it is."""
        form = self.rng.choice(CONTRASTS)
        subjects = {"main": subject, "aside": self.pronoun()}
        if form.index("{aside}") < form.index("{main}"):
            subjects = {"main": self.pronoun(), "aside": subject}
        main = self.clause(subjects["main"])
        aside = self.clause_of(-main.value, subjects["aside"])
        rules = ("contrast", *main.rules, *aside.rules)
        return Phrase(form.format(main=main.words, aside=aside.words), main.value, rules)

    def full_stop(self, phrase: Phrase) -> Phrase:
        """End a sentence."""
        return Phrase(f"{phrase.words} .", phrase.value, phrase.rules)

    def sentence(self, film: Film) -> Phrase:
        """Draw a whole sentence about a film, by any of the rules."""
        rules = (
            self.description,
            self.possession,
            self.pair,
            self.comparison,
            self.attempt,
            self.opening,
            self.attribution,
            self.contrast,
        )
        (rule,) = self.rng.choices(rules, weights=(3, 2, 2, 3, 2, 4, 3, 6))
        return self.full_stop(rule(self.subject(film)))
