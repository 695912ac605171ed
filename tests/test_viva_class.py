"""Questions on students' own code in a class: who gets which, what is written and returned."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import courses
import pytest
from courses import FOR_STAFF, KEY, WRONG, Asked, made
from test_class_engine import KILLED, Crew, Watch
from test_class_store import TERMS

from tensormark.classroom import worker
from tensormark.classroom.engine import Engine, Stop
from tensormark.classroom.failure import Stopped
from tensormark.classroom.run import Run
from tensormark.classroom.store import Store
from tensormark.classroom.viva import Sheets, blamed
from tensormark.classroom.work import Ask, Work
from tensormark.classroom.worker import Answer
from tensormark.intake.submission import SubmissionError
from tensormark.viva import draw
from tensormark.viva.question import Sheet

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    return courses.with_viva(tmp_path, monkeypatch)


def test_every_student_with_a_right_function_has_a_sheet_and_staff_have_the_key(
    asked: Asked, capsys: Capture
) -> None:
    ada, bob = asked.add(1, "attention", "embed"), asked.add(2, "attention", name="Bob Zed")

    assert asked.course.grade("--viva", "5") == 0

    assert [(job.right, job.number) for job in asked.jobs] == [
        (("attention", "embed"), 5),
        (("attention",), 5),
    ]
    names = {f"{ada}.html", f"{bob}.html"}
    assert asked.files("sheets").keys() == asked.files("keys").keys() == names
    assert {"keys.html", "canvas-quiz.zip", "moodle-quiz.xml"} < asked.files().keys()
    assert all(len(asked.codes(student)) == 5 for student in (ada, bob))
    assert all(KEY in text for text in asked.files("keys").values())
    assert f"keys/{bob}.html" in asked.files()["keys.html"]
    assert "Bob Zed" in asked.files()["keys.html"]
    output, out = capsys.readouterr().out, asked.course.out / "viva"
    assert f"viva: 5 questions for 2 students: {out}/sheets; for staff: {out}/keys.html\n" in output
    assert f"to import as quizzes: {out}/canvas-quiz.zip, {out}/moodle-quiz.xml\n" in output


def test_what_students_get_has_no_key(asked: Asked) -> None:
    asked.add(1, "attention")

    asked.course.grade("--viva", "5")

    handed_out = [*asked.files("sheets").values()]
    handed_out += [path.read_text("utf-8") for path in asked.course.out.glob("feedback/*/*")]
    secret = asked.course.ask("SELECT value FROM setting WHERE name = 'viva secret'")[0][0]
    (job,) = asked.jobs
    assert len(handed_out) == 3
    for text in handed_out:
        assert not any(part in text for part in (KEY, WRONG, FOR_STAFF, secret, job.seed))
    assert [draw.IN_EVAL in text for text in handed_out] == [True, False, False]
    assert FOR_STAFF in asked.files()["keys.html"]
    assert not any(KEY in row[0] for row in asked.course.ask("SELECT result FROM attempt"))


def test_the_same_command_writes_the_same_files_and_asks_for_no_sheet_again(asked: Asked) -> None:
    asked.add(1, "attention")
    asked.course.grade("--viva", "5")
    before = asked.files()

    asked.course.grade("--viva", "5")

    assert asked.files() == before
    assert len(asked.jobs) == asked.course.graded == 1
    assert not [*asked.course.out.glob("earlier*")]


def test_students_with_the_same_code_get_different_questions(asked: Asked) -> None:
    ada, bob = asked.add(1, "attention"), asked.add(2)
    (asked.course.folder / f"in/{bob}.py").write_text(f"# {ada}\n", encoding="utf-8")

    asked.course.grade("--viva", "5")

    assert len({job.work.digest for job in asked.jobs}) == 1
    assert asked.codes(ada).keys() != asked.codes(bob).keys()
    before = asked.codes(ada)

    (asked.course.folder / f"in/{bob}.py").write_text("# another\n", encoding="utf-8")
    asked.course.results["another"] = asked.course.results[bob]
    asked.course.grade("--viva", "5")

    assert asked.codes(ada) == before


def test_another_class_draws_other_questions(
    asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = asked.add(1, "attention")
    asked.course.grade("--viva", "5")
    before = asked.codes(ada).keys()

    asked.course.grade("--viva", "5", "--out", str(tmp_path / "other"))

    seeds = {job.seed for job in asked.jobs}
    asked.course.out = tmp_path / "other"
    assert len(seeds) == 2
    assert asked.codes(ada).keys() != before


def test_a_class_that_is_graded_is_not_graded_again_for_questions(asked: Asked) -> None:
    asked.add(1, "attention")
    asked.course.grade()
    assert asked.files() == {}

    asked.course.grade("--viva", "2")

    assert asked.course.graded == 1
    assert [job.number for job in asked.jobs] == [2]


def test_students_without_questions_are_listed_and_do_not_fail_the_run(
    asked: Asked, capsys: Capture
) -> None:
    asked.make = lambda job: {"note": "it hangs"}
    asked.add(1, "attention")
    asked.add(2)
    asked.add(3)
    asked.course.roster.append("999,nobody,No Body,")
    asked.add(4, "sentiment")
    for exercise in asked.course.results["10004"]["exercises"]:
        exercise["task"] = exercise["id"] == "sentiment"

    assert asked.course.grade("--viva", "5") == 0

    output = capsys.readouterr().out
    assert "viva: no questions for 1 student (it hangs): 10001 (Student No1)\n" in output
    assert "viva: no questions for 3 students (no function is right): 10002 (" in output
    assert "viva: no questions for 1 student (not handed in): 999 (No Body)\n" in output
    assert "viva: 5 questions" not in output
    assert asked.files().keys() == {"keys.html"}
    assert "it hangs" in asked.files()["keys.html"]


def test_outdated_sheets_are_moved_and_never_lost(asked: Asked, capsys: Capture) -> None:
    ada, bob = asked.add(1, "attention"), asked.add(2, "attention")
    asked.course.grade("--viva", "5")
    before = asked.files()
    edited = asked.course.out / f"viva/sheets/{ada}.html"
    edited.write_text("by hand", encoding="utf-8")
    (asked.course.folder / f"in/{bob}.py").unlink()
    asked.course.roster.pop()
    (asked.course.folder / "roster.csv").write_text("\n".join(asked.course.roster))

    asked.course.grade("--viva", "5")

    (earlier,) = (path for path in asked.course.out.glob("earlier*") if (path / "viva").exists())
    assert (earlier / f"viva/sheets/{ada}.html").read_text() == "by hand"
    assert (earlier / f"viva/keys/{bob}.html").read_text("latin-1") == before[f"keys/{bob}.html"]
    assert asked.files("sheets") == {f"{ada}.html": before[f"sheets/{ada}.html"]}

    capsys.readouterr()
    asked.course.grade()

    assert asked.files() == {}
    assert "the previous run had VIVA=5, and this one has none" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--viva", "0"), "VIVA=0: must be a whole number, 1 to 20"),
        (
            ("--answers", "x.csv"),
            "ANSWERS=x.csv: needs the questions that it answers; give VIVA",
        ),
        (("--viva", "5", "--answers", "/nowhere.csv"), "/nowhere.csv: "),
    ],
)
def test_an_invalid_option_is_one_sentence_before_anything_is_graded(
    asked: Asked, options: tuple[str, ...], message: str, capsys: Capture
) -> None:
    asked.add(1, "attention")

    assert asked.course.grade(*options) == 2

    assert message in capsys.readouterr().err
    assert asked.course.graded == 0


def test_no_name_of_a_student_takes_effect_in_files_or_pages(asked: Asked, capsys: Capture) -> None:
    evil = "<script>alert(1)</script>"
    ada = asked.add(1, "attention", name=evil)
    asked.course.roster.append("../../../up,con,\x1b[2J'\"&,")
    roster = asked.course.folder / "roster.csv"
    roster.write_text("\n".join(asked.course.roster), encoding="utf-8")
    (asked.course.folder / "in/con.py").write_text(f"# {ada}\n", encoding="utf-8")
    names = {path.name for path in asked.course.folder.iterdir()}

    assert asked.course.grade("--viva", "5") == 0

    assert {path.name for path in asked.course.folder.iterdir()} == {*names, "out"}
    sheets = asked.files("sheets")
    assert len(sheets) == 2
    assert all(re.fullmatch(r"[\w.-]+\.html", name) for name in sheets)
    pages = [*sheets.values(), *asked.files("keys").values(), asked.files()["keys.html"]]
    assert not any(evil in page or "\x1b" in page for page in pages)
    assert "\x1b" not in capsys.readouterr().out


def test_a_stopped_run_keeps_the_sheets_that_it_made(
    asked: Asked, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    for number in (1, 2):
        asked.add(number, "attention")

    def stop_after_one(run: Run, asks: Sequence[Ask]) -> None:
        asked.ask(run, asks[:1])
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(Run, "ask", stop_after_one)
        assert asked.course.grade("--viva", "5") == 130
    assert "stopped; " in capsys.readouterr().out

    assert asked.course.grade("--viva", "5") == 0

    assert len({job.digest for job in asked.jobs}) == len(asked.jobs) == 2
    assert len(asked.files("sheets")) == 2


class Deadly(Crew):
    """A crew of which one job kills its worker."""

    def submit(self, job: Any) -> Any:
        answer = Answer("tcp://a", "a", result=made(job), seconds=1.0)
        self.answers = [KILLED if job.work.sources["bert"] == "0" else answer]
        return super().submit(job)


def test_a_submission_that_kills_workers_while_questions_are_made_has_a_note(
    tmp_path: Path,
) -> None:
    jobs = [Ask(Work({"bert": str(number)}), ("attention",), "7", 6) for number in range(3)]
    with Store(tmp_path / "store") as store:
        sheets = Sheets(store)
        parts: Any = (Deadly(), sheets, TERMS, Watch(store), Stop(), blamed)

        Engine[Ask](*parts).run(jobs)

        dead, *others = (sheets.last(job.digest, TERMS) for job in jobs)
        assert dead is not None
        assert dead.result == {"note": "the submission kills the process that makes them"}
        assert [record and record.result for record in others] == [made(job) for job in jobs[1:]]
        assert sheets.graded(TERMS) == {job.digest for job in jobs}
        assert store.rows("SELECT * FROM attempt") == []


def test_a_worker_answers_with_a_sheet_or_says_why_there_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    grading: Any = type("Grading", (), {"assignment": type("It", (), {"main_file": "bert.py"})})
    job = Ask(Work({"bert": "x = 1"}), ("attention",), "7", 6)

    def refuse(*_: object) -> Sheet:
        raise SubmissionError("there is\x1b nothing")

    def draw_sheet(_: object, submission: Any, right: object, seed: str, number: int) -> Sheet:
        assert (submission.sources, right, seed) == ({"bert": "x = 1"}, job.right, job.seed)
        return Sheet.from_json(made(job)["sheet"])

    monkeypatch.setattr(draw, "questions", refuse)
    assert worker.asked(job, grading) == {"note": "there is? nothing"}
    monkeypatch.setattr(draw, "questions", draw_sheet)
    assert json.loads(json.dumps(worker.asked(job, grading))) == made(job)
