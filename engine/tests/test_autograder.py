"""Gradescope's autograder of an assignment that has no checkpoint and no data."""

import json
import os
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tensormark.authoring import record
from tensormark.wheel import wheel
from testkit import toy
from testkit.graded import program, ran
from testkit.resident import called


@pytest.fixture
def source(folder: Path, tmp_path: Path) -> Path:
    """What Gradescope unpacks, beside a virtual environment."""
    place = tmp_path
    private = place / "private"
    out = place / "autograder.zip"
    assert record.main(folder, "references", ["--seed", "7", "--out", str(private)]) == 0
    options = ["--references", str(private), "--tier", "process", "--out", str(out)]
    assert called(folder, "gradescope", *options).returncode == 0
    with zipfile.ZipFile(out) as archive:
        archive.extractall(place / "source")
    program(place / "venv/bin/python")
    program(place / "bin/apt-get", "exit 1")
    for name in ("setup.sh", "run_autograder"):
        (place / "source" / name).chmod(0o755)
    return place / "source"


def script(source: Path, name: str) -> str:
    """Run a script as Gradescope does, with an apt-get that fails; return what it prints."""
    path = f"{source.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": path, "HOME": os.path.expanduser("~")}
    completed = ran(source / name, env=environment, cwd="/")
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return completed.stdout


def grade(source: Path, submission: Path) -> dict[str, Any]:
    place = source.parent
    shutil.rmtree(place / "submission", ignore_errors=True)
    (place / "submission").mkdir()
    shutil.copy(submission, place / "submission")
    script(source, "run_autograder")
    text = (place / "results" / "results.json").read_text(encoding="utf-8")
    results: dict[str, Any] = json.loads(text)
    return results


def test_the_autograder_grades_with_what_it_has_and_has_nothing_for_staff_only(
    source: Path, folder: Path
) -> None:
    files = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}

    printed = script(source, "setup.sh")
    solution = grade(source, folder / "solution" / toy.MAIN)
    starter = grade(source, folder / "starter" / toy.MAIN)

    top_level = {name for name in files if not name.startswith("assignment/")}
    assert top_level == {"setup.sh", "run_autograder", "limit", f"engine/{wheel().name}"}
    assert not [name for name in files if "/mistakes/" in name or "/honest/" in name]
    assert "submissions run in the tier " in printed
    assert "detection: its time was not measured" in printed
    assert (solution["score"], starter["score"]) == (100, 0), solution
    names = [{test["name"] for test in result["tests"]} for result in (solution, starter)]
    assert names[0] == names[1]
