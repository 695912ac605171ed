"""The words of the review language: opinion words with their signs, and a small world of films."""

from dataclasses import dataclass

GOOD_ADJECTIVES = tuple(
    """brilliant charming clever delightful gripping touching funny moving fresh elegant graceful
    superb witty warm lively thrilling inspired honest subtle vivid tender bold smart engaging
    masterful memorable poignant stylish sharp joyful rich wonderful""".split()
)
BAD_ADJECTIVES = tuple(
    """dull boring clumsy awful dreary tedious stale shallow lifeless bland silly messy weak tired
    hollow flat annoying sloppy dreadful painful empty forced lazy ugly stupid wooden pointless
    muddled predictable cheap crude awkward""".split()
)
GOOD_NOUNS = tuple("charm wit grace energy heart warmth imagination tension style humor".split())
BAD_NOUNS = tuple(
    "flaws cliches holes errors nonsense padding gimmicks noise mistakes gaps".split()
)

# stars, thumbs, grade, noun, advice, adverb: they sum up a review, and are not opinion words
VERDICTS = {
    1: ("five stars", "up", "good", "triumph", "see", "happily"),
    -1: ("one star", "down", "bad", "failure", "avoid", "sadly"),
}

ASPECTS = tuple("plot acting score dialogue ending pacing camera script cast story".split())
GENRES = tuple("western thriller comedy drama musical mystery romance fantasy".split())
RIVALS = tuple("original sequel remake novel play pilot".split())


@dataclass(frozen=True)
class Film:
    """A film; its title and its lead identify it."""

    title: str
    lead: str
    genre: str


TITLES = tuple(
    """harbor lantern orchard compass thunder marble canyon violet raven ember lagoon prairie
    saddle mirror beacon summit falcon willow copper winter glacier carnival fortress meadow anchor
    comet desert velvet tundra cobalt sparrow island""".split()
)
LEADS = tuple(
    """mira otto lena hugo nadia felix irene bruno clara victor tessa oscar wanda julian greta
    simon paula marcus elena gustav ingrid rafael sonia dexter amara leopold bianca walter celia
    ivan dora edmund""".split()
)
FILMS = tuple(
    Film(title, lead, GENRES[number % len(GENRES)])
    for number, (title, lead) in enumerate(zip(TITLES, LEADS, strict=True))
)


@dataclass(frozen=True)
class Lexicon:
    """The opinion words that a writer may use, by sign."""

    adjectives: dict[int, tuple[str, ...]]
    nouns: dict[int, tuple[str, ...]]

    def half(self) -> "Lexicon":
        """Keep every other word."""
        return Lexicon(
            {sign: words[::2] for sign, words in self.adjectives.items()},
            {sign: words[::2] for sign, words in self.nouns.items()},
        )

    def signs(self) -> dict[str, int]:
        """Return the sign of every opinion word."""
        signs: dict[str, int] = {}
        for sign, words in (*self.adjectives.items(), *self.nouns.items()):
            signs |= dict.fromkeys(words, sign)
        return signs

    def words(self) -> frozenset[str]:
        """List every opinion word, whatever its sign."""
        return frozenset(self.signs())


WHOLE = Lexicon(
    adjectives={1: GOOD_ADJECTIVES, -1: BAD_ADJECTIVES}, nouns={1: GOOD_NOUNS, -1: BAD_NOUNS}
)
HALF = WHOLE.half()  # what the training split may use: the rest is known from pre-training only
QUARTER = HALF.half()  # what that of the graded sentences may use
