"""The solution's wordpiece gives what the tokenizers library gives."""

import random
from collections.abc import Iterable, Mapping, Sequence

import pytest
from tokenizers import Tokenizer, models

from instructor.hard_lines import HARD_LINES
from pretraining import wordpiece
from tests.helpers import ROOT
from tokenizer import BertTokenizer

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


def pieces_of(words: Sequence[str], vocabulary: Mapping[str, int], most: int) -> list[list[int]]:
    """Return the ids of words, which the solution and the library agree on."""
    model = models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=most)

    result = wordpiece(words, vocabulary, vocabulary["[UNK]"], max_length=most)

    assert result == [[token.id for token in model.tokenize(word)] for word in words]
    return result


def test_words_of_the_data_fall_into_the_librarys_pieces(library: Tokenizer) -> None:
    texts = [path.read_text("utf-8") for path in (ROOT / "data").glob("*.txt")]
    words = words_of("".join(texts).splitlines(), library)
    whole = library.get_vocab()
    half = {p: at for p, at in whole.items() if at % 2 or len(p) == 1 or p.startswith(("##", "["))}

    pieces_of(words, whole, 100)

    assert sum(len(ids) > 2 for ids in pieces_of(words, half, 100)) > 50  # they are spelled


def test_hard_words_fall_into_the_librarys_pieces(library: Tokenizer) -> None:
    vocabulary = library.get_vocab()
    rng = random.Random(5)
    known = sorted(vocabulary)
    invented = ("".join(rng.choices(known, k=3)) + rng.choice(ENDINGS) for _ in range(500))
    words = words_of([*HARD_LINES, *invented], library)
    assert {len(word) for word in words} >= {100, 101}

    unknown = pieces_of(words, vocabulary, 100).count([vocabulary["[UNK]"]])

    assert 100 < unknown < len(words) - 100


def test_words_fall_into_the_librarys_pieces_with_any_vocabulary() -> None:
    for seed in range(50):
        rng = random.Random(seed)
        bodies = ["".join(rng.choices(LETTERS, k=rng.randint(1, 4))) for _ in range(40)]
        pieces = ["[UNK]", *sorted({rng.choice(["", "##"]) + body for body in bodies})]
        words = ["".join(rng.choices(LETTERS, k=rng.randint(1, 9))) for _ in range(200)]

        pieces_of(words, {piece: number for number, piece in enumerate(pieces)}, 8)
