"""Reading what a class has handed in: file names, unusable hand-ins, and progress messages."""

import os
from pathlib import Path

import pytest

from tensormark.classroom import standing, summary
from tensormark.classroom.work import read_work

from downloads import GIVEN, class_of, find, handed_in


def test_files_handed_in_side_by_side_are_graded_together(tmp_path: Path) -> None:
    folder = handed_in(
        tmp_path / "in",
        "lovelaceada_1_10_bert.py",
        "lovelaceada_1_11_transformer-2.py",
        "lovelaceada_1_12_report.pdf",
    )

    (hand_in,) = find(folder)

    assert hand_in.path == folder / "lovelaceada_1_10_bert.py"
    assert read_work(hand_in.parts, GIVEN).sources == {
        "bert": "# lovelaceada_1_10_bert.py\n",
        "transformer": "# lovelaceada_1_11_transformer-2.py\n",
    }
    assert [path.name for path in hand_in.others] == ["lovelaceada_1_12_report.pdf"]


@pytest.mark.parametrize(
    ("files", "graded"),
    [
        (("BERT.PY", "optimizer.py", "bert_old.py"), {"bert": 1, "optimizer": 2}),
        (("bert.py", "bert-1.py"), {"bert": 2}),  # Canvas's name of the newer one
        (("work.py", "report.pdf"), {"bert": 1}),
    ],
)
def test_modules_are_found_under_unusual_file_names(
    tmp_path: Path, files: tuple[str, ...], graded: dict[str, int]
) -> None:
    file_names = [f"lovelaceada_1_{number}_{file}" for number, file in enumerate(files, start=1)]
    (hand_in,) = find(handed_in(tmp_path, *file_names))

    sources = read_work(hand_in.parts, GIVEN).sources

    assert sources == {name: f"# {file_names[number - 1]}\n" for name, number in graded.items()}


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("1_text.html", "links and typed text cannot be graded, only bert.py"),
        ("1_2_work.zip", "it is not a folder, a .py file, a zip or a tar; pack a zip instead"),
        ("1_2_optimizer.py", "there is no bert.py in it, which optimizer.py needs"),
    ],
)
def test_an_unusable_hand_in_counts_as_handed_in(tmp_path: Path, file: str, message: str) -> None:
    folder = handed_in(tmp_path / "in", f"ada_{file}")

    entries = class_of(folder).unread()

    assert [summary.kind_of(entry) for entry in entries] == [summary.UNREAD]
    assert message in entries[0].problem


def test_reading_announces_the_number_of_hand_ins_and_its_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standing, "EVERY", 0.0)
    hand_ins, messages = find(handed_in(tmp_path, "ada.py", "bob.py")), list[str]()
    steps = standing.read_all(hand_ins, GIVEN, messages.append)

    next(steps)
    assert messages[0] == "reading what 2 students handed in"
    next(steps)
    assert messages[-1] == "1 of 2 read"


def test_reasons_distinguish_folders_and_pipes_from_files(tmp_path: Path) -> None:
    folder = handed_in(tmp_path / "in", "x_1_2_bert.py/main.txt")
    os.mkfifo(folder / "y_3_4_bert.py")

    entries = class_of(folder).unread()

    first, second = standing.listed(standing.by_kind(entries))
    assert first.startswith("  could not be read: 1 (x): there is no bert.py in it, only")
    assert second == "  could not be read: 3 (y): it is a pipe, a socket or a device"
