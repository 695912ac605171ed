"""Tests of the viva in a class: who gets which questions, and what is written and returned."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from courses import DISTRACTOR_EXPLANATION, KEY_EXPLANATION, STAFF_NOTE, VivaClass, made_result
from test_class_engine import KILLED, Crew, Watch
from test_class_store import TERMS

from tensormark.classroom.failure import Stopped
from tensormark.classroom.jobs import worker
from tensormark.classroom.jobs.engine import Engine, Stop
from tensormark.classroom.jobs.store import Store
from tensormark.classroom.jobs.work import Ask, Work
from tensormark.classroom.jobs.worker import Answer
from tensormark.classroom.run import Run
from tensormark.classroom.viva.sheets import Sheets, blamed
from tensormark.intake.submission import SubmissionError
from tensormark.viva import draw
from tensormark.viva.question import Sheet

Capture = pytest.CaptureFixture[str]


def test_every_student_with_a_correct_function_has_a_sheet_and_staff_have_the_key(
    viva_class: VivaClass, capsys: Capture
) -> None:
    ada, bob = (
        viva_class.enrol(1, "attention", "embed"),
        viva_class.enrol(2, "attention", name="Bob Zed"),
    )

    assert viva_class.grade("--viva", "5") == 0

    assert [(job.right, job.number) for job in viva_class.jobs] == [
        (("attention", "embed"), 5),
        (("attention",), 5),
    ]
    names = {f"{ada}.html", f"{bob}.html"}
    assert viva_class.files("sheets").keys() == viva_class.files("keys").keys() == names
    assert {"keys.html", "canvas-quiz.zip", "moodle-quiz.xml"} < viva_class.files().keys()
    assert all(len(viva_class.codes(student)) == 5 for student in (ada, bob))
    assert all(KEY_EXPLANATION in text for text in viva_class.files("keys").values())
    assert f"keys/{bob}.html" in viva_class.files()["keys.html"]
    assert "Bob Zed" in viva_class.files()["keys.html"]
    output, out = capsys.readouterr().out, viva_class.out / "viva"
    assert f"viva: 5 questions for 2 students: {out}/sheets; for staff: {out}/keys.html\n" in output
    assert f"to import as quizzes: {out}/canvas-quiz.zip, {out}/moodle-quiz.xml\n" in output


def test_what_students_get_has_no_key(viva_class: VivaClass) -> None:
    viva_class.enrol(1, "attention")

    viva_class.grade("--viva", "5")

    students_texts = [*viva_class.files("sheets").values()]
    students_texts += [path.read_text("utf-8") for path in viva_class.out.glob("feedback/*/*")]
    secret = viva_class.ask("SELECT value FROM setting WHERE name = 'viva secret'")[0][0]
    (job,) = viva_class.jobs
    assert len(students_texts) == 3
    for text in students_texts:
        assert not any(
            part in text
            for part in (KEY_EXPLANATION, DISTRACTOR_EXPLANATION, STAFF_NOTE, secret, job.seed)
        )
    assert [draw.IN_EVAL in text for text in students_texts] == [True, False, False]
    assert STAFF_NOTE in viva_class.files()["keys.html"]
    assert not any(
        KEY_EXPLANATION in row[0] for row in viva_class.ask("SELECT result FROM attempt")
    )


def test_the_same_command_writes_the_same_files_and_asks_for_no_sheet_again(
    viva_class: VivaClass,
) -> None:
    viva_class.enrol(1, "attention")
    viva_class.grade("--viva", "5")
    before = viva_class.files()

    viva_class.grade("--viva", "5")

    assert viva_class.files() == before
    assert len(viva_class.jobs) == viva_class.graded == 1
    assert not [*viva_class.out.glob("earlier*")]


def test_students_with_the_same_code_get_different_questions(viva_class: VivaClass) -> None:
    ada, bob = viva_class.enrol(1, "attention"), viva_class.enrol(2)
    (viva_class.folder / f"in/{bob}.py").write_text(f"# {ada}\n", encoding="utf-8")

    viva_class.grade("--viva", "5")

    assert len({job.work.digest for job in viva_class.jobs}) == 1
    assert viva_class.codes(ada).keys() != viva_class.codes(bob).keys()
    before = viva_class.codes(ada)

    (viva_class.folder / f"in/{bob}.py").write_text("# another\n", encoding="utf-8")
    viva_class.results["another"] = viva_class.results[bob]
    viva_class.grade("--viva", "5")

    assert viva_class.codes(ada) == before


def test_another_class_draws_other_questions(
    viva_class: VivaClass, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = viva_class.enrol(1, "attention")
    viva_class.grade("--viva", "5")
    before = viva_class.codes(ada).keys()

    viva_class.grade("--viva", "5", "--out", str(tmp_path / "other"))

    seeds = {job.seed for job in viva_class.jobs}
    viva_class.out = tmp_path / "other"
    assert len(seeds) == 2
    assert viva_class.codes(ada).keys() != before


def test_a_class_that_is_graded_is_not_graded_again_for_questions(viva_class: VivaClass) -> None:
    viva_class.enrol(1, "attention")
    viva_class.grade()
    assert viva_class.files() == {}

    viva_class.grade("--viva", "2")

    assert viva_class.graded == 1
    assert [job.number for job in viva_class.jobs] == [2]


def test_students_without_questions_are_listed_and_do_not_fail_the_run(
    viva_class: VivaClass, capsys: Capture
) -> None:
    viva_class.make = lambda job: {"note": "it hangs"}
    viva_class.enrol(1, "attention")
    viva_class.enrol(2)
    viva_class.enrol(3)
    viva_class.roster.append("999,nobody,No Body,")
    viva_class.enrol(4, "sentiment")
    for exercise in viva_class.results["10004"]["exercises"]:
        exercise["task"] = exercise["id"] == "sentiment"

    assert viva_class.grade("--viva", "5") == 0

    output = capsys.readouterr().out
    assert "viva: no questions for 1 student (it hangs): 10001 (Student No1)\n" in output
    assert "viva: no questions for 3 students (no function is right): 10002 (" in output
    assert "viva: no questions for 1 student (not handed in): 999 (No Body)\n" in output
    assert "viva: 5 questions" not in output
    assert viva_class.files().keys() == {"keys.html"}
    assert "it hangs" in viva_class.files()["keys.html"]


def test_outdated_sheets_are_moved_and_never_lost(viva_class: VivaClass, capsys: Capture) -> None:
    ada, bob = viva_class.enrol(1, "attention"), viva_class.enrol(2, "attention")
    viva_class.grade("--viva", "5")
    before = viva_class.files()
    edited_sheet = viva_class.out / f"viva/sheets/{ada}.html"
    edited_sheet.write_text("by hand", encoding="utf-8")
    (viva_class.folder / f"in/{bob}.py").unlink()
    viva_class.roster.pop()

    viva_class.grade("--viva", "5")

    (earlier,) = (path for path in viva_class.out.glob("earlier*") if (path / "viva").exists())
    assert (earlier / f"viva/sheets/{ada}.html").read_text() == "by hand"
    assert (earlier / f"viva/keys/{bob}.html").read_text("latin-1") == before[f"keys/{bob}.html"]
    assert viva_class.files("sheets") == {f"{ada}.html": before[f"sheets/{ada}.html"]}

    capsys.readouterr()
    viva_class.grade()

    assert viva_class.files() == {}
    assert "the previous run had VIVA=5, and this one has none" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--viva", "0"), "VIVA=0: must be a whole number, 1 to 20"),
        (("--answers", "x.csv"), "ANSWERS=x.csv: needs the questions that it answers; give VIVA"),
        (("--viva", "5", "--answers", "/nowhere.csv"), "/nowhere.csv: "),
    ],
)
def test_an_invalid_option_is_one_sentence_before_anything_is_graded(
    viva_class: VivaClass, options: tuple[str, ...], message: str
) -> None:
    viva_class.enrol(1, "attention")

    assert message in viva_class.refused(*options)


def test_no_students_name_takes_effect_in_files_or_pages(
    viva_class: VivaClass, capsys: Capture
) -> None:
    evil = "<script>alert(1)</script>"
    ada = viva_class.enrol(1, "attention", name=evil)
    viva_class.roster.append("../../../up,con,\x1b[2J'\"&,")
    (viva_class.folder / "in/con.py").write_text(f"# {ada}\n", encoding="utf-8")

    assert viva_class.grade("--viva", "5") == 0

    assert {path.name for path in viva_class.folder.iterdir()} == {"in", "out", "roster.csv"}
    sheets = viva_class.files("sheets")
    assert len(sheets) == 2
    assert all(re.fullmatch(r"[\w.-]+\.html", name) for name in sheets)
    pages = [*sheets.values(), *viva_class.files("keys").values(), viva_class.files()["keys.html"]]
    assert not any(evil in page or "\x1b" in page for page in pages)
    assert "\x1b" not in capsys.readouterr().out


def test_a_stopped_run_keeps_the_sheets_that_it_made(
    viva_class: VivaClass, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    for number in (1, 2):
        viva_class.enrol(number, "attention")

    def stop_after_one(run: Run, asks: Sequence[Ask]) -> None:
        viva_class.make_sheets(run, asks[:1])
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(Run, "ask", stop_after_one)
        assert viva_class.grade("--viva", "5") == 130
    assert "stopped; " in capsys.readouterr().out

    assert viva_class.grade("--viva", "5") == 0

    assert len({job.digest for job in viva_class.jobs}) == len(viva_class.jobs) == 2
    assert len(viva_class.files("sheets")) == 2


class Deadly(Crew):
    """A crew of which one job kills its worker."""

    def submit(self, job: Any) -> Any:
        answer = Answer("tcp://a", "a", result=made_result(job), seconds=1.0)
        self.answers = [KILLED if job.work.sources["bert"] == "0" else answer]
        return super().submit(job)


def test_a_submission_that_kills_workers_while_questions_are_made_has_a_note(store: Store) -> None:
    jobs = [Ask(Work({"bert": str(number)}), ("attention",), "7", 6) for number in range(3)]
    sheets = Sheets(store)
    engine_parts: Any = (Deadly(), sheets, TERMS, Watch(store), Stop(), blamed)

    Engine[Ask](*engine_parts).run(jobs)

    killed, *other_records = (sheets.last(job.digest, TERMS) for job in jobs)
    assert killed is not None
    assert killed.result == {"note": "the submission kills the process that makes them"}
    assert [record and record.result for record in other_records] == [
        made_result(job) for job in jobs[1:]
    ]
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
        return Sheet.from_json(made_result(job)["sheet"])

    monkeypatch.setattr(draw, "questions", refuse)
    assert worker.asked(job, grading) == {"note": "there is? nothing"}
    monkeypatch.setattr(draw, "questions", draw_sheet)
    assert json.loads(json.dumps(worker.asked(job, grading))) == made_result(job)
