"""WordPiece: words fall into pieces of a vocabulary, longest match first.

Words and pieces are put together from parts, such as un.p.lay, so that private references can spell
the parts otherwise: which pieces a word falls into depends on its parts only.
"""

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from grader.inputs import no_inputs
from tensormark.literals import packed
from tensormark.toolkit import Call, Tensors, exercise, probe
from tensormark.toolkit.probes import Case

PIECES = (
    "[UNK] a a.ble caf e film p.lay p.lay.e.r un un.a un.p ##.a ##.a.ble ##.ble ##.e ##.e.d "
    "##.e.r ##.ing ##.p.lay ##.p.lay.a ##.s ##.é ##.☃"
).split()
DEFAULT_LIMIT = 100  # characters, the most that are spelled unless something else is said
OTHER_ID = 7  # no piece has it
SINGLE = "apdrsz"  # besides e, parts of one letter, which no longer part has; no piece has a z
LENGTHS = {"ble": (2, 3), "caf": (3, 3), "film": (3, 4), "lay": (3, 4), "un": (2, 2), "ing": (2, 3)}
ACUTE = "aceilnorsuyz"  # letters that are one character of two bytes with an acute accent
SIGNS = "☀☂★☎♞"  # of three bytes, like the snowman
HEADS = ("p.lay", "film", "caf.é", "a", "a.ble", "un.a", "p.lay.e.r", "z")  # of further words
TAILS = ("s", "e.d", "e.r", "ing", "a.ble", "a", "e", "é", "p.lay")
FURTHER = 4  # words in each probe of private references, besides those that show a mistake
FORBIDDEN = (
    "tokenizers.Tokenizer",
    "tokenizers.models.Model",
    "tokenizers.models.WordPiece",
    "tokenizer.BertTokenizer",
    "tokenizer.wordpiece",
)


def spell(word: str, spelling: Mapping[str, str]) -> str:
    """Put a word or piece together; a part that has no spelling of its own is spelled as it is."""
    return "".join(spelling.get(part, part) for part in word.split("."))


def words_of(probe: str, limit: int, plays: int) -> list[str]:
    """Return the words of a probe, as parts.

    Args:
        limit: characters of p.lay.e.d, which is the limit of the probe that has one.
        plays: how many times p.lay is as long as the default limit.
    """
    too_long = "a" + ".a" * limit
    fits = "a.☃" + ".é" * (limit - 3)
    fits_just = "a.☃" + ".é" * (limit - 2)
    long = "p.lay" + ".p.lay" * (plays - 1)
    shorter = "p.lay" + ".p.lay" * (plays - 2)
    return {
        "pieces": "p.lay a p.lay.s p.lay.ing p.lay.e.d.e.r.s p.lay.e.r.s un.a.ble caf.é.a.ble "
        "p.lay.a.ble.a.ble",
        "one form only": "p.lay.film film.p.lay ing ing.p.lay a.ble.a",
        "unknown words": "z.p.lay p.lay.z p.lay.z.s z z.z P.lay caf.e.\u0301 film",
        "dead ends": "un.p.lay film.p.lay.a.ble p.lay.a.e.d un.p.lay.a.ble un.a.s",
        "limit": f"p.lay.e.d p.lay.ing p.lay.e.d.s {too_long} p.lay.é.s {fits} {fits_just} "
        "p.lay.p.lay.s film film",
        "default limit": f"{long} {long}.s {shorter} z",
        "no words": "",
    }[probe].split()


def literals(
    probe: str, spelling: Mapping[str, str], ids: Iterable[int], further: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the arguments of a probe's call."""
    limit = len(spell("p.lay.e.d", spelling))
    plays = DEFAULT_LIMIT // len(spell("p.lay", spelling))
    vocabulary = {spell(piece, spelling): n for piece, n in zip(PIECES, ids, strict=True)}
    vocabulary[spell("film", spelling)] = 0  # which is an id like any other
    arguments: dict[str, Any] = {
        "words": [spell(word, spelling) for word in [*words_of(probe, limit, plays), *further]],
        "vocabulary": vocabulary,
        # a caller may choose another id than that of [UNK]
        "unknown_id": OTHER_ID if probe == "default limit" else vocabulary["[UNK]"],
    }
    return arguments | ({"max_length": limit} if probe == "limit" else {})


def draw_spelling(rng: np.random.Generator) -> dict[str, str]:
    """Spell the parts with other letters, of which no two parts share any."""
    accented = str(rng.choice(list(ACUTE)))
    others = [chr(n) for n in range(ord("a"), ord("z") + 1) if chr(n) != accented]
    letters = rng.permutation(others).tolist()
    spelling = {part: letters.pop() for part in SINGLE} | {"e": accented}
    for part, (least, most) in LENGTHS.items():
        spelling[part] = "".join(letters.pop() for _ in range(rng.integers(least, most + 1)))
    spelling["é"] = unicodedata.normalize("NFC", f"{accented}\u0301")
    return spelling | {"P": spelling["p"].upper(), "☃": str(rng.choice(list(SIGNS)))}


def draw_private(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw a vocabulary, and words that show the same mistakes, with others between them."""
    spelling = draw_spelling(rng)
    ids = rng.choice(np.arange(10, 1000), len(PIECES), replace=False).tolist()
    heads = rng.choice(HEADS, FURTHER)
    tails = rng.choice(TAILS, (FURTHER, 3))
    further = [
        ".".join([head, *row[: rng.integers(4)]])
        for head, row in zip(heads.tolist(), tails.tolist(), strict=True)
    ]
    arguments = literals(call.inputs, spelling, ids, further if call.literals["words"] else ())
    return packed(arguments | {"words": rng.permutation(arguments["words"]).tolist()})


def of(name: str, part: str, says: str) -> Case:
    """Return the probe of this name."""
    arguments = literals(name, {}, range(10, 10 + 3 * len(PIECES), 3))
    return probe(name, part, says, inputs=name, args=tuple(arguments), literals=arguments)


EXERCISE = exercise(
    "wordpiece",
    ("words", "vocabulary", "unknown_id"),
    no_inputs,
    draw_private=draw_private,
    order=150,
    title="words in pieces",
    file="pretraining.py",
    extension=True,
    points={"values": 4, "properties": 2},
    forbidden=FORBIDDEN,
    call={"form": "value", "returns": ("ids",)},
    probes=(
        of("pieces", "values", "words are split into the wrong pieces"),
        of("one form only", "values", "pieces with and without their mark are confused"),
        of("unknown words", "values", "words that cannot be spelled are not unknown as a whole"),
        of("dead ends", "values", "words are wrong where the longest piece leads to a dead end"),
        of("limit", "properties", "words are wrong near the length limit"),
        of("default limit", "properties", "words are wrong near the limit of 100 characters"),
        of("no words", "properties", "wordpiece is wrong for an empty list"),
    ),
)
