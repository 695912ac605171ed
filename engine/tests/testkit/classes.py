"""Made-up classes of the toy assignment, and folders of submissions."""

import csv
import io
import json
from pathlib import Path
from unittest import mock

from tensormark.classroom import grade_class
from tensormark.classroom.entry import Entry
from tensormark.classroom.find import find
from tensormark.intake.submission import Submission
from tensormark.result import Finding, Grade, Outcome, Result
from testkit import toy
from testkit.at_once import here
from testkit.resident import called

EDITABLE = (toy.MAIN, "extra.py")
SAYS = {("conv", "no_bias"): "the bias is missing", ("conv", "flipped"): "the kernel is flipped"}


def result(mistake=None, text="", flags=()):
    """Return a result in which conv passed, or failed with a mistake and this text everywhere."""
    finding = Finding(f"raised ValueError: {text}", (text,), mistake)
    wrong = Result("conv", Outcome.FAILED, 10, 40, (finding,), note=text, title=f"a title {text}")
    right = Result("conv", Outcome.PASSED, 40, 40)
    results = [wrong if mistake else right, Result("detector", Outcome.PASSED, 40, 40)]
    name = f"{text}.py"
    return Grade(
        name, "process", results, [text], list(flags), name=name, printed=text, private=True
    ).as_json()


def entry(student, model=None, **values):
    """Return a student who handed in a file, or nothing."""
    values.setdefault("name", student)
    if model is None:
        return Entry(student, values["name"])
    submission = Submission("detector.py", {"detector": student}, {})
    path = Path(f"in/{student}.py")
    return Entry(student, path=path, submission=submission, result=model, **values)


def handed_in(folder, *names):
    """Create files, each with its own text, or folders for names that end in a slash."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir(exist_ok=True)
        else:
            path.write_text(f"# {name}\n", "utf-8", errors="replace")
    return folder


def found(folder, files, people="", platform=""):
    """Return who handed in these files, according to a class list."""
    path = None
    if people:
        path = folder / "list.csv"
        path.write_text(people, "utf-8")
    return find(handed_in(folder / "in", *files), EDITABLE, path, platform)


def owners(result):
    """Return each student's files, written as in hand_ins.txt."""
    students = {}
    for each in result.entries:
        graded = [part.below[-1] for part in each.parts]
        graded.sort(key=lambda name: each.path is None or name != each.path.name)
        noted = "".join(f" ; {path.name}" for path in each.others)
        students[each.student] = (" + ".join(graded) + noted).strip()
    assert len(students) == len(result.entries)
    return students


def graded_class(folder, hand_ins, out, *options):
    """Grade a class with the command, in this process; return its status and what it printed."""
    words = ("class", "--check", "--out", out, *options, "--", hand_ins)
    with mock.patch.object(grade_class, "workers", here):
        ended = called(folder, *map(str, words))
    return ended.returncode, ended.stdout + ended.stderr


def options_in(out, **values):
    """Write a class.toml."""
    out.mkdir(parents=True, exist_ok=True)
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in values.items()]
    (out / "class.toml").write_text("".join(lines), "utf-8")


def rows_in(path):
    """Return the rows of a gradebook by student."""
    return {row["student"]: row for row in csv.DictReader(io.StringIO(path.read_text("utf-8")))}
