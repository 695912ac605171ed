"""Files of labelled sentences: what is read, and which lines are refused."""

from pathlib import Path

import pytest

from support import sentences


def test_a_line_is_a_label_three_bars_and_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "some.txt"
    path.write_text("4 ||| It 's a fine ||| film .\r\n\n0|||bad\n", encoding="utf-8")

    assert sentences.read_examples(path) == [(4, "It 's a fine ||| film ."), (0, "bad")]


@pytest.mark.parametrize(
    "line", [b"a fine film", b"1 || good", b"x ||| good", b"-1 ||| good", b"1 |||  ", b"1 ||| \xff"]
)
def test_a_bad_line_is_named_with_its_file_and_number(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "some.txt"
    path.write_bytes(b"1 ||| good\n" + line + b"\n")

    with pytest.raises(ValueError, match=r"some\.txt:2: ") as caught:
        sentences.read_examples(path)

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("names", ["", "id\tsentence\tsentiment\n", "\tid\tsentence\tsentiment\n"])
def test_tab_separated_lines_are_read_with_and_without_a_header(tmp_path: Path, names) -> None:
    number = "0\t" if names.startswith("\t") else ""
    path = tmp_path / "ids-sst-dev.csv"
    lines = f'{names}{number}ab12\tIt \'s ``fine\'\' .\t3\r\n{number}cd34\t"so ""bad"" ."\t0\n'
    path.write_bytes(lines.encode())

    assert sentences.read_examples(path) == [(3, "It 's ``fine'' ."), (0, 'so "bad" .')]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (
            "id\tsentence\nab\tgood\n",
            "there is no column `sentiment`, so the sentences have no labels",
        ),
        ("id\tsentence\tsentiment\n", "there are no sentences in it, only the column names"),
        ("ab\tgood\t1\ncd\tbad\n", "some.csv:2: a line should be "),
        ("ab\tgood\t1\ncd\tbad\t0\tmore\n", "some.csv:2: a line should be "),
        ("ab\tgood\tpositive\n", "some.csv:1: a line should be "),
        ("ab\t\t1\n", "some.csv:1: a line should be "),
    ],
)
def test_bad_cells_are_named(tmp_path: Path, content: str, complaint: str) -> None:
    (tmp_path / "some.csv").write_text(content, encoding="utf-8")

    with pytest.raises(sentences.InputError) as caught:
        sentences.read_examples(tmp_path / "some.csv")

    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_an_empty_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "some.txt").write_bytes(content)

    with pytest.raises(ValueError, match=r"some\.txt: there are no sentences in it"):
        sentences.read_examples(tmp_path / "some.txt")
