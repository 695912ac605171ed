"""The tokenizer, with a small vocabulary."""

from pathlib import Path

import pytest

from tokenizer import SPECIAL_TOKENS, BertTokenizer

PIECES = [*SPECIAL_TOKENS, "the", "film", "##s", ".", "good", "not", ","]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "vocab.txt").write_text("".join(f"{piece}\n" for piece in PIECES))
    return tmp_path


@pytest.fixture
def tokenizer(folder: Path) -> BertTokenizer:
    return BertTokenizer.from_pretrained(folder)


IDS: dict[str, tuple[tuple[list[str], ...], int | None, list[list[int]]]] = {
    "between [CLS] and [SEP]": ((["The films."],), None, [[2, 5, 6, 7, 8, 3]]),
    "a pair": ((["good film"], ["not good"]), None, [[2, 9, 6, 3, 10, 9, 3]]),
    "padded": ((["good", "the good film"],), None, [[2, 9, 3, 0, 0], [2, 5, 9, 6, 3]]),
    "cut, the longer one first": ((["film " * 4], ["good"]), 6, [[2, 6, 6, 3, 9, 3]]),
    "accents and capitals": ((["GÓOD Fílm"],), None, [[2, 9, 6, 3]]),
}


@pytest.mark.parametrize(("sentences", "max_length", "ids"), IDS.values(), ids=IDS)
def test_sentences_have_these_ids_types_and_masks(
    tokenizer: BertTokenizer, sentences, max_length: int | None, ids: list[list[int]]
) -> None:
    batch = tokenizer(*sentences, **{} if max_length is None else {"max_length": max_length})

    assert batch["input_ids"].tolist() == ids
    assert batch["attention_mask"].tolist() == [[int(number != 0) for number in row] for row in ids]
    second = [row.index(3) if len(sentences) == 2 else len(row) for row in ids]
    types = [[int(n > end) for n in range(len(row))] for row, end in zip(ids, second, strict=True)]
    assert batch["token_type_ids"].tolist() == types


def test_truncation_of_one_call_does_not_reach_the_next(tokenizer: BertTokenizer) -> None:
    tokenizer(["the film is long"], max_length=3)

    assert tokenizer(["good good good"])["input_ids"].shape == (1, 5)


def test_length_without_room_for_special_tokens_is_refused(tokenizer: BertTokenizer) -> None:
    with pytest.raises(ValueError, match="max_length must be at least 3"):
        tokenizer(["good"], max_length=2)


def test_one_string_in_place_of_a_list_is_refused(tokenizer: BertTokenizer) -> None:
    with pytest.raises(TypeError, match="list of sentences"):
        tokenizer("good")


def test_decode_leaves_out_special_tokens_and_padding(tokenizer: BertTokenizer) -> None:
    row = tokenizer(["the films [MASK] .", "not good , the film ."])["input_ids"][0]

    assert tokenizer.decode(row) == "the films [MASK]."


def test_tokenizer_json_gives_the_ids_of_vocab_txt(folder: Path, tokenizer: BertTokenizer) -> None:
    tokenizer.tokenizer.save(str(folder / "tokenizer.json"))

    from_json = BertTokenizer.from_pretrained(folder)

    sentences = ["the films .", "not a good film"]
    assert from_json(sentences)["input_ids"].tolist() == tokenizer(sentences)["input_ids"].tolist()


@pytest.mark.parametrize("content", ["", "{", "{}"])
def test_damaged_file_is_named_in_one_line(folder: Path, content: str) -> None:
    (folder / "tokenizer.json").write_text(content)

    with pytest.raises(ValueError, match=r"tokenizer\.json: not a BERT tokenizer: [^\n]*$"):
        BertTokenizer.from_pretrained(folder)


def test_vocabulary_without_a_special_token_is_refused(folder: Path) -> None:
    (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\ngood\n")

    with pytest.raises(ValueError, match=r"vocab\.txt: .* it lacks \[MASK\]"):
        BertTokenizer.from_pretrained(folder)


def test_folder_without_a_tokenizer_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=str(tmp_path)):
        BertTokenizer.from_pretrained(tmp_path)
