"""The solution's wordpiece gives what the tokenizers library gives."""

import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models

from instructor.hard_lines import HARD_LINES
from pretraining import wordpiece
from tests.helpers import ROOT
from tokenizer import BertTokenizer

TEXTS = sorted((ROOT / "data").glob("*.txt"))
LETTERS = "abé☃"  # few, so that pieces are often prefixes of each other
ENDINGS = ("", "s", "##s", "é", "\u0301", "東", "'", "x" * 100)


@pytest.fixture(scope="module")
def library() -> Tokenizer:
    return BertTokenizer.from_pretrained(ROOT / "checkpoint").tokenizer


def words_of(lines: Iterable[str], library: Tokenizer) -> list[str]:
    """Return the distinct words that the library makes of lines before it looks for pieces."""
    normalized = {library.normalizer.normalize_str(line) for line in lines}
    split = (library.pre_tokenizer.pre_tokenize_str(line) for line in normalized)
    return sorted({word for words in split for word, _ in words})


def library_ids(words: Sequence[str], model: models.WordPiece) -> list[list[int]]:
    """Return the ids that the library's WordPiece gives."""
    return [[token.id for token in model.tokenize(word)] for word in words]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_words_of_the_data_fall_into_the_librarys_pieces(path: Path, library: Tokenizer) -> None:
    words = words_of(path.read_text(encoding="utf-8").splitlines(), library)
    assert len(words) > 100

    result = wordpiece(words, library.get_vocab(), library.token_to_id("[UNK]"))

    assert result == library_ids(words, library.model)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_words_that_are_taken_out_of_the_vocabulary_are_spelled(
    path: Path, library: Tokenizer
) -> None:
    words = words_of(path.read_text(encoding="utf-8").splitlines(), library)
    vocabulary = {
        piece: number
        for piece, number in library.get_vocab().items()
        if number % 2 or len(piece) == 1 or piece.startswith(("##", "["))
    }
    model = models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100)

    result = wordpiece(words, vocabulary, vocabulary["[UNK]"])

    assert result == library_ids(words, model)
    assert sum(len(ids) > 2 for ids in result) > 50


def test_hard_words_fall_into_the_librarys_pieces(library: Tokenizer) -> None:
    vocabulary = library.get_vocab()
    unknown_id = library.token_to_id("[UNK]")
    pieces = sorted(vocabulary)
    rng = random.Random(5)
    invented = ("".join(rng.choices(pieces, k=3)) + rng.choice(ENDINGS) for _ in range(500))
    words = words_of([*HARD_LINES, *invented], library)
    assert {len(word) for word in words} >= {100, 101}

    result = wordpiece(words, vocabulary, unknown_id)

    assert result == library_ids(words, library.model)
    assert 100 < result.count([unknown_id]) < len(words) - 100


@pytest.mark.parametrize("seed", range(50))
def test_words_fall_into_the_librarys_pieces_with_any_vocabulary(seed: int) -> None:
    rng = random.Random(seed)
    bodies = ["".join(rng.choices(LETTERS, k=rng.randint(1, 4))) for _ in range(40)]
    pieces = ["[UNK]", *sorted({rng.choice(["", "##"]) + body for body in bodies})]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    words = ["".join(rng.choices(LETTERS, k=rng.randint(1, 9))) for _ in range(200)]
    model = models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=8)

    result = wordpiece(words, vocabulary, vocabulary["[UNK]"], max_length=8)

    assert result == library_ids(words, model)
