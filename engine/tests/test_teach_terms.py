"""What teach.html says about handing in and about the last term, which `class` is given."""

import datetime
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from teaching import DEADLINE, MISSING, PASSED, grade_at_once, lesson, made, result, shown, words

from tensormark import cli
from tensormark.classroom.entry import Entry
from tensormark.classroom.jobs.store import Store
from tensormark.classroom.reports import teach
from tensormark.exercise import Assignment

import toy
from graded import files_in

# --- handing in -------------------------------------------------------------------------------


def handed_in(*hours: float | None) -> Iterator[Entry]:
    """Yield entries that passed, handed in these hours before the deadline."""
    for entry, before in zip(made(*[PASSED] * len(hours)), hours, strict=True):
        time = None if before is None else DEADLINE - datetime.timedelta(hours=before)
        yield replace(entry, hand_in=replace(entry.hand_in, submitted=time))


def test_how_long_before_the_deadline_is_shown_where_it_is_known(assignment: Assignment) -> None:
    entries = handed_in(*[-1.0] * 3, *[0.5] * 4, 12.0, *[100.0] * 4, *[None] * 3)

    text = shown(assignment, [*entries], "times", deadline=DEADLINE)

    assert "after the deadline 3 of 12" in text
    assert "in the last hour 5 of 12, 42% *" in text
    assert "6 to 24 hours before" not in text
    assert "How often students handed in" not in text


@pytest.mark.parametrize("timed", [0, 9])
def test_times_and_tries_that_are_known_of_few_are_left_out(
    assignment: Assignment, timed: int
) -> None:
    entries = [*handed_in(*[1.0] * timed, *[None] * (15 - timed))]
    versions = dict.fromkeys(["s0", "s1"], 2)

    page = teach.page(lesson(assignment, entries, deadline=DEADLINE, versions=versions))

    assert 'id="times"' not in page


def test_tries_are_counted_where_runs_saw_several(assignment: Assignment) -> None:
    versions = {f"s{n}": min(n, 3) for n in range(2, 12)}

    text = shown(assignment, made(*[PASSED] * 15), "times", versions=versions)

    assert "once 6 of 15, 40% *" in text
    assert "three times 9 of 15, 60%" in text


# --- two terms --------------------------------------------------------------------------------


def test_shares_of_two_terms_stand_side_by_side(assignment: Assignment) -> None:
    then = made(*["bias_forgotten"] * 5, *[PASSED] * 5)
    now = made(*["last_window_missing"] * 4, *["bias_forgotten"], *[PASSED] * 15)
    last = lesson(assignment, then).term

    text = shown(assignment, now, "terms", last=last)

    assert "conv 50% 75%" in text
    assert "conv : the bias is forgotten 50% -" in text
    assert f"conv : {MISSING} - 20%" in text


def test_a_small_class_is_not_compared(assignment: Assignment) -> None:
    last = lesson(assignment, made(*[PASSED] * 5)).term

    text = shown(assignment, made(*[PASSED] * 12), "terms", last=last)

    assert "nothing is compared" in text
    assert "%" not in text


# --- by the command ---------------------------------------------------------------------------


@pytest.fixture
def hand_ins(tmp_path: Path, solution_source: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Twelve submissions whose grading is instant: all have the same result."""
    grade_at_once(monkeypatch, lambda _: result("bias_forgotten"))
    for number in range(12):
        path = tmp_path / "in" / f"student{number}" / toy.MAIN
        path.parent.mkdir(parents=True)
        path.write_text(f"{solution_source}\n# {number}\n", encoding="utf-8")
    return tmp_path / "in"


def grade_class(folder: Path, hand_ins: Path, name: str, *options: str) -> int:
    usual = ["--check", "--tier", "process", "--out", str(hand_ins.parent / name), "--workers", "1"]
    return cli.run(folder, "class", [str(hand_ins), *usual, *options])


def test_a_class_is_compared_with_an_earlier_one_that_stays_as_it_is(
    folder: Path, hand_ins: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, last = hand_ins.parent / "now", hand_ins.parent / "last"
    assert grade_class(folder, hand_ins, "last") == 0
    before = files_in(last)

    assert grade_class(folder, hand_ins, "now", "--last", str(last)) == 0
    page = (out / "teach.html").read_text(encoding="utf-8")
    assert grade_class(folder, hand_ins, "now", "--only", "student3") == 0

    assert "the bias is forgotten all all" in words(page, "terms")
    assert (out / "teach.html").read_text(encoding="utf-8") == page
    assert f"--last {last}" in capsys.readouterr().out
    assert files_in(last) == before
    assert "terms" not in (last / "teach.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("store", "message"),
    [
        (None, "is not the folder of a class: it has no store.sqlite"),
        (b"no store at all, but long enough to be looked at", "cannot be read (file is not"),
        (b"", "was written by another version"),
    ],
)
def test_a_folder_that_is_not_a_class_is_one_line_before_anything_is_graded(
    folder: Path,
    hand_ins: Path,
    capsys: pytest.CaptureFixture[str],
    store: bytes | None,
    message: str,
) -> None:
    other = hand_ins.parent / "other"
    other.mkdir()
    if store is not None:
        (other / "store.sqlite").write_bytes(store)
    capsys.readouterr()

    status = grade_class(folder, hand_ins, "now", "--last", str(other))

    error = capsys.readouterr().err
    assert status == 2
    assert message in error
    assert [line for line in error.splitlines() if line.startswith("class: --last ")]
    assert not (hand_ins.parent / "now/gradebook.html").exists()
    assert not list(other.glob("*-*"))


def test_a_class_is_not_compared_with_itself_or_with_another_assignment(
    folder: Path, hand_ins: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert grade_class(folder, hand_ins, "last") == 0
    last = tmp_path / "last"

    assert grade_class(folder, hand_ins, "last", "--last", str(last)) == 2
    assert "is this class; name an earlier one" in capsys.readouterr().err

    with Store(last / "store.sqlite") as store, store.change() as file:
        file.execute('UPDATE attempt SET result = replace(result, \'"id": "\', \'"id": "x\')')
    assert grade_class(folder, hand_ins, "now", "--last", str(last)) == 2
    assert "has no results of Detector" in capsys.readouterr().err
