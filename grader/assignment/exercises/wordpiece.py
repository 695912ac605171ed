"""WordPiece: words fall into pieces of a vocabulary, longest match first."""

from typing import Any

import numpy as np

from grader.assignment.model import BertCall
from grader.exercise import Exercise, Probe, Tensors

PIECES = (
    "[UNK] a able caf e film play player un una unp ##a ##able ##ble ##e ##ed ##er ##ing ##play "
    "##playa ##s ##é ##☃"
)
VOCABULARY = {piece: 10 + 3 * number for number, piece in enumerate(PIECES.split())}
LONG = "play" * 25  # 100 characters, the most that are spelled unless something else is said
FORBIDDEN = (
    "tokenizers.Tokenizer",
    "tokenizers.models.Model",
    "tokenizers.models.WordPiece",
    "tokenizer.BertTokenizer",
    "tokenizer.wordpiece",
)


def draw(rng: np.random.Generator, call: BertCall) -> Tensors:
    """Return nothing: words and vocabulary are literals."""
    return {}


def of(words: str, max_length: int | None = None) -> tuple[BertCall]:
    """Return a call with these words, which spaces separate."""
    literals: dict[str, Any] = {
        "words": words.split(),
        "vocabulary": VOCABULARY,
        "unknown_id": VOCABULARY["[UNK]"],
    }
    if max_length is not None:
        literals["max_length"] = max_length
    return (
        BertCall(
            "wordpiece",
            tuple(literals),
            kind="function",
            module="pretraining",
            literals=literals,
            returns=("ids",),
            form="lists",
        ),
    )


EXERCISE = Exercise(
    id="wordpiece",
    order=150,
    title="words in pieces",
    file="pretraining.py",
    extension=True,
    points={"values": 4, "properties": 2},
    draw=draw,
    forbidden=FORBIDDEN,
    probes=(
        Probe(
            "pieces",
            "values",
            "words fall into the wrong pieces",
            of("play a plays playing playeders players unable caféable playableable"),
        ),
        Probe(
            "one form only",
            "values",
            "a piece is known with its mark or without it, and taken the other way",
            of("playfilm filmplay ing ingplay ablea"),
        ),
        Probe(
            "unknown words",
            "values",
            "words that cannot be spelled are not unknown as a whole",
            of("zplay playz playzs z zz Play cafe\u0301 film"),
        ),
        Probe(
            "dead ends",
            "values",
            "words are wrong where the longest piece leads nowhere",
            of("unplay filmplayable playaed unplayable unas"),
        ),
        Probe(
            "limit",
            "properties",
            "words are wrong near the limit of length",
            of("played playing playeds aaaaaaa playés a☃ééé a☃éééé playplays film", max_length=6),
        ),
        Probe(
            "default limit",
            "properties",
            "words are wrong near the limit of 100 characters",
            of(f"{LONG} {LONG}s {LONG[4:]}"),
        ),
        Probe("no words", "properties", "wordpiece is wrong for an empty list", of("")),
    ),
)
