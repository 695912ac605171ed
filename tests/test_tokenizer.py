"""The tokenizer, with a small vocabulary, and the solution's wordpiece beside the library's."""

import json
import random

import pytest
from tokenizers import models

from pretraining import wordpiece
from tokenizer import SPECIAL_TOKENS, BertTokenizer

PIECES = [*SPECIAL_TOKENS, "the", "film", "##s", ".", "good", "not", ","]  # ids from 5 on


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "vocab.txt").write_text("".join(f"{piece}\n" for piece in PIECES))
    return tmp_path


@pytest.fixture
def tokenizer(folder):
    return BertTokenizer.from_pretrained(folder)


IDS = {
    "between [CLS] and [SEP]": ((["The films."],), None, [[2, 5, 6, 7, 8, 3]]),
    "a pair": ((["good film"], ["not good"]), None, [[2, 9, 6, 3, 10, 9, 3]]),
    "padded": ((["good", "the good film"],), None, [[2, 9, 3, 0, 0], [2, 5, 9, 6, 3]]),
    "cut, the longer one first": ((["film " * 4], ["good"]), 6, [[2, 6, 6, 3, 9, 3]]),
    "accents and capitals": ((["GÓOD Fílm"],), None, [[2, 9, 6, 3]]),
}


@pytest.mark.parametrize(("sentences", "max_length", "ids"), IDS.values(), ids=IDS)
def test_sentences_have_these_ids_types_and_masks(tokenizer, sentences, max_length, ids):
    batch = tokenizer(*sentences, **{} if max_length is None else {"max_length": max_length})

    assert batch["input_ids"].tolist() == ids
    assert batch["attention_mask"].tolist() == [[int(number != 0) for number in row] for row in ids]
    second = [row.index(3) if len(sentences) == 2 else len(row) for row in ids]
    types = [[int(n > end) for n in range(len(row))] for row, end in zip(ids, second, strict=True)]
    assert batch["token_type_ids"].tolist() == types


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ({"do_lower_case": False}, [2, 1, 6, 12, 3]),
        ({"do_lower_case": False, "strip_accents": None}, [2, 1, 6, 12, 3]),
        ({"do_lower_case": False, "strip_accents": True}, [2, 1, 6, 6, 3]),
        ({"do_lower_case": True, "strip_accents": False}, [2, 5, 6, 12, 3]),
        ({"model_max_length": 512}, [2, 5, 6, 6, 3]),
    ],
)
def test_a_vocabulary_is_used_as_the_tokenizer_config_beside_it_says(folder, options, ids):
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in [*PIECES, "fílm"]), "utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(options), "utf-8")

    assert BertTokenizer.from_pretrained(folder)(["The film fílm"])["input_ids"].tolist() == [ids]


def test_truncation_of_one_call_does_not_reach_the_next(tokenizer):
    tokenizer(["the film is long"], max_length=3)

    assert tokenizer(["good good good"])["input_ids"].shape == (1, 5)


@pytest.mark.parametrize(
    ("sentences", "length", "error"), [(["good"], 2, ValueError), ("good", 9, TypeError)]
)
def test_what_cannot_be_tokenized_is_refused(tokenizer, sentences, length, error):
    with pytest.raises(error, match=r"at least 3|list of sentences"):
        tokenizer(sentences, max_length=length)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tokenizer.json", "{"),
        ("tokenizer.json", "{}"),
        ("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\ngood\n"),
        ("vocab.txt", None),
        ("tokenizer_config.json", "{"),
        ("tokenizer_config.json", '{"do_lower_case": "no"}'),
    ],
)
def test_a_file_without_a_tokenizer_is_named_in_one_line(folder, name, content):
    (folder / name).unlink(missing_ok=True)
    if content is not None:
        (folder / name).write_text(content)

    with pytest.raises(
        (ValueError, FileNotFoundError), match=name if content else str(folder)
    ) as e:
        BertTokenizer.from_pretrained(folder)

    assert "\n" not in str(e.value)


# --- wordpiece ----------------------------------------------------------------------------------

LETTERS = "abé☃"  # few, so that pieces are often prefixes of each other
LONGEST = 8  # word that is looked up


def test_words_fall_into_the_librarys_pieces_with_any_vocabulary():
    for seed in range(50):
        rng = random.Random(seed)
        bodies = ["".join(rng.choices(LETTERS, k=rng.randint(1, 4))) for _ in range(40)]
        pieces = ["[UNK]", *sorted({rng.choice(["", "##"]) + body for body in bodies})]
        vocabulary = {piece: number for number, piece in enumerate(pieces)}
        words = ["".join(rng.choices(LETTERS, k=rng.randint(1, LONGEST + 1))) for _ in range(200)]
        model = models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=LONGEST)

        ids = wordpiece(words, vocabulary, vocabulary["[UNK]"], max_length=LONGEST)

        assert ids == [[token.id for token in model.tokenize(word)] for word in words]
