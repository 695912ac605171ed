"""Gradescope's autograder, run by its two scripts in a folder that is laid out like /autograder."""

import dataclasses
import json
import os
import re
import shutil
import sys
import zipfile

import pytest

from grader.assignment import ASSIGNMENT
from tensormark import cli
from tensormark.gradescope import autograder
from tensormark.grading import Grading
from tensormark.references import References
from tensormark.result import Grade, Outcome, Result
from tensormark.sandbox.tiers import PROCESS
from tensormark.settings import Settings
from testkit import formats
from testkit.graded import program, ran
from tests.helpers import ROOT

SOLUTION = (ROOT / "solution" / "bert.py").read_text("utf-8")
RUN = "run_autograder"
SCRIPTS = ("setup.sh", RUN)
HOSTILE = """
for place in {places}:
    try:
        print("LEAKED", open(place).read()[:50])
        open(place, "w").write('{{"score": 1000}}')
    except OSError:
        pass
"""


def read(results):
    """Read a results.json, and check it by the specification."""
    return formats.check_gradescope(results.read_text("utf-8"))


def built(*options):
    return cli.run(ROOT, "gradescope", options)


@pytest.fixture(scope="module")
def packed(private):
    out = private.parent / "autograder.zip"
    assert built("--references", str(private), "--out", str(out)) == 0
    return out


@pytest.fixture(scope="module")
def image(packed, tmp_path_factory):
    """The root of an autograder whose setup.sh has run, without a network."""
    root = tmp_path_factory.mktemp("autograder")
    shutil.unpack_archive(packed, root / "source")
    for name in SCRIPTS:  # unzip, which may be missing here, keeps the modes
        (root / "source" / name).chmod(0o755)
    program(root / "venv/bin/python")
    program(root / "bin/apt-get", "exit 1")
    completed = script(root, str(root / "source" / "setup.sh"))
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert "submissions run in the tier contained" in completed.stdout
    shutil.copy(root / "source" / RUN, root)
    return root


def script(root, *command):
    """Run a script as Gradescope does; its apt-get fails."""
    env = {
        "PATH": f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": os.path.expanduser("~"),
    }
    return ran(*command, env=env, cwd="/")


@pytest.mark.tier("contained")
@pytest.mark.timeout(900)
def test_right_code_gets_its_points_and_no_attack_beside_it_reaches_the_autograder(image):
    attacked = ("results/results.json", "source/assignment/references/manifest.json")
    hostile = HOSTILE.format(places=[str(image / place) for place in (*attacked, RUN)])
    for name in ("submission", "results"):
        (image / name).mkdir(exist_ok=True)
    (image / "submission" / "bert.py").write_text(SOLUTION + hostile, "utf-8")

    completed = script(image, str(image / RUN))

    assert completed.returncode == 0, completed.stderr
    assert [path.name for path in (image / "results").iterdir()] == ["results.json"]
    results = read(image / "results" / "results.json")
    assert results["score"] == 100, results
    assert [test["score"] for test in results["tests"][:6]] == [25, 10, 15, 20, 10, 20]
    assert results["extra_data"]["tier"] == "contained"
    assert autograder.UNFINISHED not in results["output"]
    assert "LEAKED" not in json.dumps(results)
    assert (image / RUN).read_text("utf-8").startswith("#!/usr/bin/env bash")


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A results.json to write here, where nothing is isolated."""
    monkeypatch.setattr(autograder, "settings_for", lambda *_: Settings.of(ROOT))
    monkeypatch.setattr(autograder, "chosen", lambda *_: PROCESS)
    return tmp_path / "results.json"


def test_a_grading_that_is_cut_off_or_not_isolated_says_so(path, monkeypatch):
    def cut_off(*_, **__):
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(autograder, "chosen", lambda *_: None)
        autograder.grade(ASSIGNMENT, ROOT / "starter", path, 600)
    not_isolated = read(path)
    monkeypatch.setattr(Grading, "grade", cut_off)
    with pytest.raises(SystemExit):
        autograder.grade(ASSIGNMENT, ROOT / "starter", path, 600)

    assert not_isolated["output"].startswith(autograder.UNGRADED)
    assert read(path)["output"].startswith(autograder.UNFINISHED)
    assert not_isolated["tests"] == read(path)["tests"] == []
    assert "score" not in not_isolated.keys() | read(path).keys()


def test_a_submission_with_nothing_to_grade_has_a_score_and_a_failed_grader_has_none(
    path, tmp_path, monkeypatch
):
    autograder.grade(ASSIGNMENT, tmp_path, path, 600)
    empty = read(path)
    settings = Settings.of(ROOT, references=tmp_path)
    monkeypatch.setattr(autograder, "settings_for", lambda *_: settings)
    autograder.grade(ASSIGNMENT, ROOT / "solution", path, 600)

    assert (empty["score"], empty["tests"]) == (0, [])
    assert "score" not in read(path)
    assert not any("score" in test for test in read(path)["tests"])


def metadata(folder, *earlier):
    """Write what Gradescope says of a submission and of those before, by its documentation."""
    before = [{"submission_time": time, "score": 0.0, "results": {}} for time in earlier]
    now = {"id": 1, "created_at": "2026-10-01T22:30:00.0-07:00", "previous_submissions": before}
    path = folder / "submission_metadata.json"
    path.write_text(json.dumps(now), "utf-8")
    return path


@pytest.mark.parametrize(
    ("rule", "earlier", "said"),
    [
        ("always", [], ""),
        ("due", [], autograder.RECEIVED),
        ("2", [f"2026-{day}T23:00:00.0-07:00" for day in ("09-30", "10-01")], ""),
        ("2", ["2026-10-01T00:10:00.0-07:00"] * 2, autograder.TOO_OFTEN.format(2)),
        ("2", [None], autograder.TOO_OFTEN.format(2)),
    ],
)
def test_verdicts_can_wait_for_the_due_date_or_be_so_many_a_day(
    rule, earlier, said, path, monkeypatch
):
    told = autograder.hidden(rule, metadata(path.parent, *earlier))

    monkeypatch.setattr(autograder, "Grading", lambda *_: GradedPath())
    autograder.grade(ASSIGNMENT, ROOT / "solution", path, 600, told)
    results = read(path)

    assert told == said
    visibility = "after_due_date" if said else "visible"
    assert {results["visibility"], *(each["visibility"] for each in results["tests"])} == {
        visibility
    }
    assert ("25 / 25" in results["output"]) == (not said)


class GradedPath(Grading):
    """A grading of what passes one exercise."""

    def __init__(self):
        """Read nothing."""

    def read(self, path):
        return path

    def grade(self, submission, *_, observer, **__):
        grade = Grade("x", PROCESS, [Result("attention", Outcome.PASSED, 25, 25)])
        observer.end(grade)
        return grade


def test_a_python_of_root_s_own_does_not_hide_the_systems(tmp_path):
    script = (ROOT / "engine/src/tensormark/gradescope/setup.sh").read_text("utf-8")
    functions = script[script.index("usable()") : script.index("install()")]
    program(tmp_path / "home/shims/python3", "exit 1")
    program(tmp_path / "bin/python3", f'exec {sys.executable} "$@"')
    path = f"{tmp_path}/home/shims:{tmp_path}/bin"

    env = {"PATH": path, "HOME": str(tmp_path / "home")}
    found = ran("/bin/bash", "-ec", f"{functions} find_python", env=env)

    assert found.stdout.strip() == str(tmp_path / "bin/python3"), found.stderr


@pytest.mark.parametrize("limit", [300, 600])
def test_the_time_for_a_submission_fits_into_the_limit(image, limit):
    folder = image / "source" / "assignment"

    settings = autograder.settings_for(dataclasses.replace(ASSIGNMENT, folder=folder), limit)

    measured = References(folder / autograder.REFERENCES).manifest["sentiment"]["seconds"]
    training = settings.training_times * measured
    assert training > limit / 6
    assert settings.budget + settings.limits.load_seconds + training < 0.9 * limit


def test_the_zip_has_what_grading_needs_and_no_more(packed):
    with zipfile.ZipFile(packed) as archive:
        names = {name.removeprefix("assignment/") for name in archive.namelist()}
        pins = archive.read("assignment/constraints.txt").decode()
        modes = [archive.getinfo(name).external_attr >> 16 for name in SCRIPTS]

    assert all(mode & 0o111 for mode in modes)
    code = {name.split("/")[1] for name in names if name.startswith("grader/")}
    assert {"assignment.py", "exercises", "harness.py"} <= code
    assert {"handout.md", "handout/extensions.md"} <= names  # reports quote them
    assert not {"mistakes", "honest", "staff.py"} & code
    data = {name for name in names if name.startswith(("data/", "checkpoint/"))}
    assert data == {
        *(f"data/{name}" for name in ("train.txt", "dev.txt", "grades/test.txt")),
        *(f"checkpoint/{name}" for name in ASSIGNMENT.checkpoint_files),
    }
    assert re.search(r"^typing-extensions==", pins, re.M)  # torch needs it
    assert "tensormark" not in pins


def test_public_references_are_refused(tmp_path, capsys):
    out = tmp_path / "autograder.zip"

    assert built("--references", str(ROOT / "reference_outputs"), "--out", str(out)) == 2
    assert built("--out", str(out)) == 2

    assert capsys.readouterr().err.count("\n") == 2
    assert not out.exists()
