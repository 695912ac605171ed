"""The gradebook and the feedback: who and what is in them, and that no text acts in either."""

import csv
import io
import json
import random
import re
from collections import Counter
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tensormark.classroom.entry import Entry, HandIn
from tensormark.classroom.reports import feedback
from tensormark.classroom.reports.gradebook import write_results
from tensormark.classroom.reports.page import page
from tensormark.classroom.reports.similar import Group, Similar
from tensormark.classroom.summary import histogram, kind_of, mistakes_of
from tensormark.reports.model import Model

import classes
import formats
import sample
from graded import files_in
from test_payloads import PAYLOADS, harmless, is_clean


def entry(result: Model | None = None, student: str = "ada", **options: Any) -> Entry:
    hand_in = HandIn(student, options.pop("name", "Ada Lovelace"), Path(f"in/{student}.py"))
    return Entry(hand_in, result or sample.complete(), **options)


def table(out: Path) -> list[dict[str, str]]:
    text = (out / "gradebook.csv").read_text(encoding="utf-8")
    assert text.startswith('"student","submission","score","max_score","bonus",')
    return list(csv.DictReader(io.StringIO(text)))


def modification_times(folder: Path) -> dict[str, float]:
    return {str(p.relative_to(folder)): p.stat().st_mtime_ns for p in folder.rglob("*.*")}


def test_everybody_is_in_the_gradebook(tmp_path: Path) -> None:
    entries = classes.a_class(300)

    write_results(entries, tmp_path)

    rows = table(tmp_path)
    assert [row["student"] for row in rows] == [each.hand_in.student for each in entries]
    kinds = Counter(map(kind_of, entries))
    assert len(kinds) == 5
    assert sum(kinds.values()) == 300
    page_text = (tmp_path / "gradebook.html").read_text("utf-8")
    assert page_text.count('role="row"') == 301
    for kind, count in kinds.items():
        assert f"<li><b>{count}</b>{kind}</li>" in page_text


def test_a_row_has_points_by_exercise_and_what_went_wrong(tmp_path: Path) -> None:
    hand_in = HandIn("ada", "Ada", Path("in/ada.py"), minutes_late=7, others=(Path("in/old.py"),))
    nobody = HandIn("grace", "Grace", None)

    write_results([Entry(hand_in, sample.model()), Entry(nobody)], tmp_path)

    first, second = table(tmp_path)
    assert first["attention"] == "0"  # and not "0.0" in some rows
    assert first["embed"] == ""
    assert first["problem"] == "embed could not be graded"
    assert first["minutes_late"] == "7"
    assert first["other_files"] == "old.py"
    assert second["score"] == second["submission"] == ""
    assert second["problem"] == "not handed in"


def test_the_gradebook_depends_on_no_clock(tmp_path: Path) -> None:
    first = [entry(seconds=1.0, attempts=1)]
    second = [entry(seconds=2.0, attempts=3)]

    write_results(first, tmp_path / "a")
    write_results(second, tmp_path / "b")

    assert (tmp_path / "a/gradebook.csv").read_bytes() == (
        tmp_path / "b/gradebook.csv"
    ).read_bytes()


# --- feedback ---------------------------------------------------------------------------------


def test_feedback_is_a_page_and_a_result_of_the_schema(tmp_path: Path) -> None:
    write_results([entry(sample.complete())], tmp_path)

    model = json.loads((tmp_path / "feedback/ada/results.json").read_bytes())
    formats.check_model(model)
    text = (tmp_path / "feedback/ada/report.html").read_text("utf-8")
    assert f"<b>{model['score']:g}</b>" in text


def test_nothing_for_the_instructor_is_in_feedback(tmp_path: Path) -> None:
    result = sample.complete() | {"submission": "/home/prof/SECRET/in", "flags": ["SECRET"]}
    result |= {"private": True, "printed": "SECRET", "unknown": "SECRET"}
    result["exercises"][0]["flags"] = ["SECRET"]
    result["exercises"][0]["findings"][0]["excerpt"]["name"] = "SECRET"

    write_results([entry(result)], tmp_path)

    for path in (tmp_path / "feedback").rglob("*.*"):
        assert b"SECRET" not in path.read_bytes()
    assert "SECRET" in (tmp_path / "gradebook.csv").read_text("utf-8")


def test_feedback_is_only_written_if_it_changes(tmp_path: Path) -> None:
    entries = [entry(student="ada"), entry(student="grace")]
    write_results(entries, tmp_path)
    before = modification_times(tmp_path / "feedback")
    other = sample.complete()
    other["score"] -= 1

    write_results([entries[0], replace(entries[1], result=other)], tmp_path)

    after = modification_times(tmp_path / "feedback")
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"grace/report.html", "grace/results.json"}


def test_pages_are_drawn_again_if_the_version_of_the_reports_changes(
    tmp_path: Path, monkeypatch
) -> None:
    write_results([entry()], tmp_path)
    path = tmp_path / "feedback/ada/report.html"
    path.write_text("old", encoding="utf-8")
    write_results([entry()], tmp_path)
    assert path.read_text("utf-8") == "old"

    monkeypatch.setattr(feedback, "version", lambda: "another")
    write_results([entry()], tmp_path)

    assert path.read_text("utf-8") != "old"


def test_feedback_that_is_out_of_date_is_removed(tmp_path: Path) -> None:
    write_results([entry()], tmp_path)

    write_results([replace(entry(), result=None, problem="bert.py is empty")], tmp_path)

    assert list((tmp_path / "feedback/ada").iterdir()) == []


def test_results_of_students_who_left_the_class_are_moved_aside_and_none_is_lost(
    tmp_path: Path,
) -> None:
    write_results([entry(), entry(student="bob"), entry(student="cy d" * 30)], tmp_path)
    for name in ("own", "bob"):
        (tmp_path / "feedback" / name).mkdir(exist_ok=True)
        (tmp_path / "feedback" / name / "mine.txt").write_text("mine", encoding="utf-8")
    before = files_in(tmp_path)

    lines = write_results([entry()], tmp_path)

    after = files_in(tmp_path)
    moved = {name.removeprefix("earlier-1/") for name in after if name.startswith("earlier-1/")}
    assert {name for name in before if name.startswith(("feedback/bob/", "feedback/cy"))} < moved
    assert moved > {"gradebook.csv", "gradebook.html"}
    assert all(after[f"earlier-1/{name}"] == before[name] for name in moved)
    assert {p.name for p in (tmp_path / "feedback").glob("[!.]*")} == {"ada", "own"}
    assert lines[-1].startswith(
        f"moved to {tmp_path / 'earlier-1'}, because it belongs to an earlier run: "
    )


@pytest.mark.parametrize("name", ["gradebook.csv", "gradebook.html", "feedback/ada/mine.txt"])
def test_files_that_the_grader_did_not_write_are_moved_aside_and_not_replaced(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("mine", encoding="utf-8")

    write_results([entry()], tmp_path)
    (tmp_path / "gradebook.csv").write_text("edited", encoding="utf-8")
    write_results([entry()], tmp_path)
    write_results([entry()], tmp_path)

    assert (tmp_path / "earlier-1" / name).read_text(encoding="utf-8") == "mine"
    assert (tmp_path / "earlier-2/gradebook.csv").read_text(encoding="utf-8") == "edited"
    assert not (tmp_path / "earlier-3").exists()


# --- the page ---------------------------------------------------------------------------------


def test_the_commonest_mistake_comes_first_with_its_description() -> None:
    entries = classes.a_class(200)
    count = sum(
        exercise["mistake"] == "no_attention_dropout"
        for each in entries if each.result
        for exercise in each.result["exercises"]
    )  # fmt: skip

    mistakes = mistakes_of(entries)

    text = "no dropout on the attention probabilities in training"
    (dropout,) = (mistake for mistake in mistakes if mistake.text == text)
    assert len(dropout.places) == count
    assert [len(mistake.places) for mistake in mistakes] == sorted(
        (len(mistake.places) for mistake in mistakes), reverse=True
    )


def test_a_count_of_one_has_a_singular(tmp_path: Path) -> None:
    ada = entry(seconds=2.0, attempts=2)
    ada = replace(ada, hand_in=replace(ada.hand_in, others=(Path("in/old.py"),)))

    lines = write_results([ada, Entry(HandIn("grace", "Grace", None))], tmp_path)

    text = (tmp_path / "gradebook.html").read_text("utf-8")
    visible_text = "\n".join(
        [*lines, re.sub(r"<[^>]*>", "", re.sub(r"<script>.*?</script>", "", text, flags=re.S))]
    )
    assert "and 1 folder of feedback" in visible_text
    assert "1 more file or folder, not graded" in visible_text
    assert "1 was tried more than once" in visible_text
    assert not re.search(
        r"\b1 (students|folders|files|groups|flags|submissions|more files)\b", visible_text
    )


def test_every_score_is_in_the_histogram_once() -> None:
    entries = [
        entry(sample.complete() | {"score": s, "max_score": 100}) for s in (0, 9.9, 10, 99, 100)
    ]

    assert histogram(entries) == [2, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1]


def test_a_team_is_not_a_near_identical_group_but_a_copy_of_its_work_makes_one(
    tmp_path: Path,
) -> None:
    source = "".join(
        f"def f{n}(a):\n    b = a + {n}\n    c = b * {n}\n    return b - c\n\n" for n in range(9)
    )
    team = [replace(entry(student=name), sources={"bert": source}) for name in ("ada", "grace")]
    team = [
        replace(member, hand_in=replace(member.hand_in, path=Path("in/team"))) for member in team
    ]

    write_results(team, tmp_path)
    assert "Near-identical" not in (tmp_path / "gradebook.html").read_text("utf-8")
    lines = write_results(
        [*team, replace(entry(student="eve"), sources={"bert": source})], tmp_path
    )

    assert "Near-identical" in (tmp_path / "gradebook.html").read_text("utf-8")
    path = tmp_path / "similar.html"
    assert f"near-identical submissions for you to compare: 1 group, in {path}" in lines


def shape_of(text: str) -> tuple[list[Any], list[str]]:
    """Return a page's tags and links, without styles and scripts, which are always the same."""
    tags = formats.Tags(re.sub(r"<(style|script)>.*?</\1>", "", text, flags=re.S))
    return tags.tags, tags.links


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_no_payload_changes_the_page(payload: str) -> None:
    chance = random.Random(3)
    student = classes.entry(chance, 5)
    similar = Similar((Group((0, 1), (payload,), 1.0),))

    def drawn_page(change) -> str:
        entries = [
            classes.with_student_text(change, student),
            classes.with_student_text(change, Entry(student.hand_in)),
        ]
        return page(entries, ["feedback/a-1", ""], similar)

    hostile = drawn_page(lambda text: payload + text)
    similar = Similar((Group((0, 1), (harmless(payload),), 1.0),))
    plain = drawn_page(lambda text: harmless(payload) + text)

    assert shape_of(hostile) == shape_of(plain)
    assert hostile.count("<script") == hostile.count("</script") == 1
    assert is_clean(hostile)


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_no_payload_makes_another_folder_or_file(tmp_path: Path, payload: str) -> None:
    hostile = classes.with_student_text(lambda text: payload + text, entry())

    write_results([hostile, entry()], tmp_path)

    first, _ = table(tmp_path)
    assert None not in first
    assert all(map(is_clean, first.values()))
    assert len(list((tmp_path / "feedback").glob("*/report.html"))) == 2
    assert {path.name for path in tmp_path.iterdir()} == {
        "feedback", "gradebook.csv", "gradebook.html", ".written.json",
    } | ({".statements.json"} if (tmp_path / ".statements.json").exists() else set())  # fmt: skip


SPLIT = ["x;{}", 'x; "{}', "x;'{}", 'x";\t{}', "x\t{}", "x\n{}", "x,{}", '","{}', ' "{}', "x;;{}"]


@pytest.mark.parametrize("payload", [*PAYLOADS, *(text.format("=1+1") for text in SPLIT)])
def test_no_payload_is_a_formula_whatever_separates_the_cells(tmp_path: Path, payload: str) -> None:
    first = classes.with_student_text(lambda text: payload + text, entry())
    last = classes.with_student_text(lambda text: text + payload, entry())

    write_results([first, last, entry()], tmp_path)

    text = (tmp_path / "gradebook.csv").read_text(encoding="utf-8")
    for separator in ",;\t":
        for cell in chain(*csv.reader(io.StringIO(text, newline=""), delimiter=separator)):
            assert not cell.lstrip().startswith(("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d"))


def test_texts_are_quoted_and_numbers_are_not(tmp_path: Path) -> None:
    write_results([entry(sample.complete() | {"score": 87.5, "max_score": 100.0})], tmp_path)

    _, line = (tmp_path / "gradebook.csv").read_text(encoding="utf-8").splitlines()
    assert line.startswith('"ada","ada.py",87.5,100,')
