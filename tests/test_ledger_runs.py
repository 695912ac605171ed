"""Final points from run to run: nothing is graded again, applied twice or lost."""

import json

import pytest
from courses import DEADLINE, Course, whole

from tensormark.classroom import run

from graded import files_in


def contents(course: Course) -> dict[str, bytes]:
    own = "store", ".written"
    return {name: text for name, text in files_in(course.out).items() if not name.startswith(own)}


VERSIONS = "SELECT ledger.id, student, final FROM ledger LEFT JOIN final ON ledger = ledger.id"


def test_a_change_grades_nothing_again_and_every_version_is_kept(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    ada = course.add(1, whole(72), late=1)
    first, second = course.rows(f"{ada},,+5,,,"), course.rule()
    course.grade(first)
    before = contents(course)

    course.grade(first)
    assert contents(course) == before
    assert course.ask(VERSIONS) == [(1, ada, 77.0)]

    capsys.readouterr()
    course.grade(first, second)
    assert f"  {ada}: 77 before, 72 now\n" in capsys.readouterr().out
    course.rows(f"{ada},,+6,,,")
    course.grade(first, second)
    course.grade()
    course.grade()

    versions = [(1, ada, 77.0), (2, ada, 72.0), (3, ada, 73.0), (4, None, None)]
    assert course.ask(VERSIONS) == versions
    assert "final" not in course.gradebook()[ada]
    assert course.graded == 1
    rules = course.ask("SELECT time, rule, adjustments FROM ledger")
    assert all(time.startswith("20") for time, _, _ in rules)
    assert json.loads(rules[1][1])["points"] == "5"
    assert json.loads(rules[0][2])[0]["points"] == "5"


def test_a_run_names_the_files_that_only_the_previous_run_had(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    course.add(1, whole())
    course.grade(course.rule())
    course.grade()

    output = capsys.readouterr().out
    assert "the previous run had RULE=" in output
    assert "the previous run had DEADLINE=" not in output
    assert "final: no longer in the gradebook; earlier versions stay in the store" in output

    course.grade()
    assert "final" not in capsys.readouterr().out

    course.deadline = None
    assert course.grade() == 0
    output = capsys.readouterr().out
    deadline = DEADLINE.astimezone().isoformat()
    assert f"the previous run had DEADLINE={deadline}, and this one has none" in output


def test_an_appeal_takes_both_files_and_reports_the_change_of_final(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    ada, grace = course.add(1, whole(72), late=1), course.add(2, whole(50))
    course.grade(course.rows(f"{ada},,+5,,,"), course.rule())
    course.results[ada] |= whole(75, attention=3.0)
    capsys.readouterr()

    assert course.grade("--only", ada) == 0

    output = capsys.readouterr().out
    assert f"{ada}: 72 / 100 before, 75 / 100 now" in output
    assert f"  {ada}: 72 before, 75 now\n" in output
    assert course.gradebook()[ada]["how"].startswith("75 + 5 - 5 (late: 1 day")

    course.grade("--only", grace)
    assert f"  {grace}: 50 unchanged\n" in capsys.readouterr().out


def test_repeating_a_run_that_ended_before_its_gradebook_adds_no_version(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = course.add(1, whole(72))
    course.grade(course.rows(f"{ada},,+5,,,"))
    options = course.rows(f"{ada},,+6,,,")

    with monkeypatch.context() as patch:
        patch.setattr(run, "write_results", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
        assert course.grade(options) == 2
    assert course.gradebook()[ada]["final"] == "77"

    assert course.grade(options) == 0
    assert course.gradebook()[ada]["final"] == "78"
    assert course.ask(VERSIONS) == [(1, ada, 77.0), (2, ada, 78.0)]
