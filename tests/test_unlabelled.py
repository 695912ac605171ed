"""Test sentences may have no labels, as students get them; all others need them."""

from pathlib import Path

import pytest

import classifier


@pytest.fixture
def data(tmp_path: Path) -> dict[str, Path]:
    """Three small files, and the folder of predictions."""
    files = {name: tmp_path / f"{name}.txt" for name in ("train", "dev", "test")}
    for path in files.values():
        path.write_text("1 ||| good film\n0 ||| bad film\n", encoding="utf-8")
    return files | {"predictions": tmp_path / "predictions"}


def arguments(data: dict[str, Path]) -> list[str]:
    options = [text for name, path in data.items() for text in (f"--{name}", str(path))]
    return [*options, "--epochs", "1", "--device", "cpu", "--threads", "1"]


def test_bare_test_sentences_get_predictions_and_no_accuracy(data, capsys) -> None:
    data["test"].write_text("good film\n\nbad film\n", encoding="utf-8")

    assert classifier.main(arguments(data)) == 0

    written = data["predictions"] / "full-model-test-out.txt"
    lines = written.read_text(encoding="utf-8").splitlines()
    assert [line.split(" ||| ")[0] for line in lines] == ["good film", "bad film"]
    assert f"test predictions, written to {written}" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["train", "dev"])
def test_other_sentences_need_labels(data, name: str, capsys) -> None:
    data[name].write_text("good film\n", encoding="utf-8")

    assert classifier.main(arguments(data)) == 2

    assert f"{name}.txt:1: a line should be" in capsys.readouterr().err


def test_a_label_that_is_missing_in_one_line_is_named(data, capsys) -> None:
    data["test"].write_text("1 ||| good film\nbad film\n", encoding="utf-8")

    assert classifier.main(arguments(data)) == 2

    assert "test.txt:2: a line should be" in capsys.readouterr().err
