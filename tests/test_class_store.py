"""What a class's run stores: nothing that was graded is lost, and nothing is graded twice."""

import contextlib
import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.classroom import standing
from tensormark.classroom.entry import Entry, HandIn
from tensormark.classroom.jobs.store import Attempt, Store, only_run
from tensormark.classroom.jobs.work import Terms
from tensormark.classroom.reports.gradebook import write_results
from tensormark.classroom.summary import OURS, kind_of
from tensormark.usage import UserError

import sample
from downloads import GIVEN, find

TERMS = Terms("code", {"torch": "2"}, "references", "checkpoint", "contained", "check", 300.0, 10.0)


def result(score: float = 10.0, outcome: str = "passed") -> dict[str, Any]:
    model = sample.complete() | {"assignment": ASSIGNMENT.name}
    for exercise in model["exercises"]:
        if exercise["id"] == "add_norm":
            exercise |= {"score": score, "outcome": outcome}
    return model


def unfinished() -> dict[str, Any]:
    return sample.model()


def graded(score: float = 10.0, outcome: str = "passed") -> Attempt:
    return Attempt("here", 1.5, "", result(score, outcome))


def class_of(store: Store, folder: Path, **texts: str) -> standing.Class:
    """Return a class in which each student has handed in a bert.py with the text in `texts`."""
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return standing.Class(
        [HandIn(name, name, folder / f"{name}.py") for name in texts], GIVEN, store
    )


def test_a_result_is_still_in_the_file_after_reopening_it(tmp_path: Path) -> None:
    with Store(tmp_path / "store") as store:
        store.add("work", TERMS, graded())

    with Store(tmp_path / "store") as store:
        attempt = store.last("work", TERMS)

    assert attempt is not None
    assert (attempt.result, attempt.worker, attempt.seconds) == (result(), "here", 1.5)


def test_only_new_and_changed_submissions_are_left_to_grade(tmp_path: Path, store: Store) -> None:
    first = class_of(store, tmp_path / "in", ada="a = 1", bob="b = 1")
    for work in first.left(TERMS, force=False):
        store.add(work.digest, TERMS, graded())

    later = class_of(store, tmp_path / "in", ada="a = 2", bob="b = 1", cy="c = 1")

    remaining = [dict(work.sources)["bert"] for work in later.left(TERMS, force=False)]
    assert remaining == ["a = 2", "c = 1"]
    assert len(later.left(TERMS, force=True)) == 3


@pytest.mark.parametrize(
    "field",
    ["code", "references", "checkpoint", "tier", "mode", "budget", "training_times", "versions"],
)
def test_a_result_counts_only_for_the_terms_that_it_was_graded_under(
    tmp_path: Path, store: Store, field: str
) -> None:
    old = getattr(TERMS, field)
    other = {"torch": "3"} if field == "versions" else old * 2
    course = class_of(store, tmp_path / "in", ada="a = 1")
    (work,) = course.left(TERMS, force=False)
    store.add(work.digest, TERMS, graded())

    assert course.left(TERMS, force=False) == []
    assert course.left(dataclasses.replace(TERMS, **{field: other}), force=False) == [work]


@pytest.mark.parametrize(
    "attempt", [Attempt("", problem="killed"), Attempt("", 1, "", unfinished())]
)
def test_work_that_could_not_be_graded_is_left_for_the_next_run(
    tmp_path: Path, store: Store, attempt: Attempt
) -> None:
    course = class_of(store, tmp_path / "in", ada="a = 1")
    (work,) = course.left(TERMS, force=False)

    store.add(work.digest, TERMS, attempt)

    assert course.left(TERMS, force=False) == [work]
    assert [kind_of(entry) in OURS for entry in course.entries(TERMS)] == [True]


def test_the_same_files_of_two_students_are_graded_once_and_have_their_own_names(
    tmp_path: Path, store: Store
) -> None:
    course = class_of(store, tmp_path / "in", ada="a = 1", bob="a = 1")
    (work,) = course.left(TERMS, force=False)
    store.add(work.digest, TERMS, graded())

    results = [entry.result for entry in course.entries(TERMS)]

    paths = [tmp_path / "in" / name for name in ("ada.py", "bob.py")]
    assert [model and model["submission"] for model in results] == list(map(str, paths))


def fill(store: Store) -> None:
    """Add results until an error occurs, or a megabyte is written."""
    for number in range(100):
        store.add(f"work {number}", TERMS, graded())


def test_a_full_disk_is_one_sentence_and_loses_nothing(store: Store) -> None:
    store.add("first", TERMS, graded())
    (pages,) = store.rows("PRAGMA page_count")[0]
    store.rows(f"PRAGMA max_page_count = {pages}")  # as if the disk had no more room

    with pytest.raises(UserError, match="the disk is full; free some space"):
        fill(store)

    assert store.last("first", TERMS) is not None
    assert store.rows("PRAGMA integrity_check") == [("ok",)]

    store.rows("PRAGMA max_page_count = 100000")
    store.add("work 99", TERMS, graded())
    assert store.last("work 99", TERMS) is not None


def begin_and_fail(store: Store) -> None:
    with store.change() as file:
        file.execute("INSERT INTO setting VALUES ('tier', 'locked')")
        raise KeyError


def test_a_crash_in_the_middle_of_a_change_leaves_none_of_it(store: Store) -> None:
    with pytest.raises(KeyError):
        begin_and_fail(store)

    assert store.setting("tier") is None
    store.add("work", TERMS, graded())


def test_a_second_run_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    with only_run(tmp_path), pytest.raises(UserError, match="another run"), only_run(tmp_path):
        pass

    with only_run(tmp_path):  # after the other run has ended
        pass


def of_another_version(path: Path) -> None:
    with contextlib.closing(Store(path).file) as file, file:
        file.execute("PRAGMA user_version = 99")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.write_text("something else " * 100, "utf-8"), "is not a store"),
        (Path.mkdir, r"cannot be used \(Is a directory\); name another OUT="),
        (of_another_version, "another version"),
    ],
)
def test_a_path_that_is_not_a_store_of_this_version_is_refused_and_left_as_it_is(
    tmp_path: Path, make: Callable[[Path], object], message: str
) -> None:
    path = tmp_path / "store"
    make(path)
    before = path.is_file() and path.read_bytes()

    with pytest.raises(UserError, match=message):
        Store(path)

    assert (path.is_file() and path.read_bytes()) == before


def test_an_older_store_gets_the_tables_that_it_lacks(tmp_path: Path) -> None:
    with Store(tmp_path / "store.sqlite") as store, store.change() as file:
        file.execute("DROP TABLE viva")
    with Store(tmp_path / "store.sqlite") as store:
        assert store.rows("SELECT * FROM viva") == []


def test_others_cannot_read_the_store(tmp_path: Path) -> None:
    with Store(tmp_path / "store"):
        assert (tmp_path / "store").stat().st_mode & 0o077 == 0


def test_a_result_that_differs_from_the_previous_one_comes_with_it(
    tmp_path: Path, store: Store
) -> None:
    first = class_of(store, tmp_path / "in", ada="a = 1", bob="b = 1")
    for work in first.left(TERMS, force=False):
        store.add(work.digest, TERMS, graded(5.0, "failed"))
    later = class_of(store, tmp_path / "in", ada="a = 2", bob="b = 2")
    for work, score in zip(later.left(TERMS, force=False), (10.0, 5.0), strict=True):
        store.add(work.digest, TERMS, graded(score, "passed" if score == 10 else "failed"))

    ada, bob = later.entries(TERMS)

    assert ada.previous is not None
    lines = standing.differences(ada.previous, ada.result or {})
    assert lines == ["  add_norm: failed (5), now passed (10)"]
    assert bob.previous is None


def test_the_counts_add_up_and_every_student_has_a_kind(tmp_path: Path, store: Store) -> None:
    texts = {"ada": "a = 1", "bob": "b = 1", "cy": "c = 1", "dee": "d = 1", "eve": "e = 1"}
    course = class_of(store, tmp_path / "in", **texts)
    attempts = [graded(), Attempt("", problem="killed"), Attempt("", 1, "", unfinished())]
    for work, attempt in zip(course.left(TERMS, force=False), attempts, strict=False):
        store.add(work.digest, TERMS, attempt)
    (tmp_path / "in" / "fay.zip").touch()
    more = [HandIn("fay", "fay", tmp_path / "in" / "fay.zip"), HandIn("gus", "gus", None)]
    larger_course = standing.Class(
        [*(student.hand_in for student in course.students), *more], GIVEN, store
    )
    kinds = standing.by_kind(larger_course.entries(TERMS))

    assert standing.counted(kinds) == (
        "7 students: 1 graded, 1 graded in part, 1 could not be graded, 1 could not be read, "
        "1 not handed in, 2 not graded yet"
    )
    assert "  could not be read: fay: it is an empty file" in list(standing.listed(kinds))


def test_a_long_list_is_cut_on_the_terminal() -> None:
    entries = [Entry(HandIn(str(n), "", None), problem="not handed in") for n in range(50)]

    lines = list(standing.listed(standing.by_kind(entries)))

    assert len(lines) == standing.LISTED + 1
    assert lines[-1] == "  not handed in: and 30 more"


def test_a_name_that_is_not_utf_8_is_stored_written_and_found_again(
    tmp_path: Path, store: Store
) -> None:
    folder = os.fsencode(tmp_path / "in")
    os.mkdir(folder)
    with open(folder + b"/jos\xe9_12_34_bert.py", "wb") as file:
        file.write(b"a = 1\n")
    with open(folder + b"/andr\xe9.py", "wb") as file:
        file.write(b"a = 2\n")
    course = standing.Class(find(tmp_path / "in"), GIVEN, store)
    for work in course.works().values():
        store.add(work.digest, TERMS, graded())
    entries = course.entries(TERMS)
    write_results(entries, tmp_path / "out")

    assert store.earlier(entries[0].hand_in.student, TERMS.mode) is not None
    assert course.find("andr\udce9") is course.find(r"andr\udce9") is not None

    assert [entry.hand_in.student for entry in entries] == [r"andr\udce9", "12"]
    for path in (tmp_path / "out").rglob("*.*"):
        path.read_text(encoding="utf-8")
    model = json.loads((tmp_path / "out/feedback/12/results.json").read_text(encoding="utf-8"))
    assert model["name"].encode("utf-8") == rb"jos\udce9_12_34_bert.py"
