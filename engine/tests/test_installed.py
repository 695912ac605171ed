"""The distribution as another course gets it: a wheel in an environment of its own.

The environment's path has none of the sources, only the packages that the wheel depends on. The
blocks of README and docs/first_assignment.md are run in the environment, in order; then the
commands that these blocks leave out.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
import venv
import zipfile
from pathlib import Path

import pytest

import toy
from graded import program, ran
from pages import PAGE, README, follow
from tensormark.sandbox.interface import CONTAINED
from tensormark.wheel import wheel as this_wheel
from watching import WAITING, Running

SOURCES = Path(__file__).resolve().parents[1]


class Place:
    """An environment with the wheel, and folders in which its commands are run."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.folder = folder
        venv.create(folder / "venv", symlinks=True, with_pip=False)
        self.bin = folder / "venv" / "bin"
        paths = sysconfig.get_paths(
            "venv", vars={"base": str(folder / "venv"), "platbase": str(folder / "venv")}
        )
        # after the environment's own packages, so that the wheel comes first
        packages = Path(paths["purelib"], "packages.pth")
        packages.write_text(sysconfig.get_paths()["purelib"] + "\n", encoding="utf-8")
        install = "-m pip install --quiet --no-deps --no-index --ignore-installed".split()
        pip = [str(self.bin / "python"), *install, str(wheel)]
        subprocess.run(pip, check=True, capture_output=True)
        # pytest of the packages, but with this environment's plugins
        program(self.bin / "pytest", f'exec "{self.bin / "python"}" -P -m pytest "$@"')
        variables = {"HOME": str(folder), "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}"}
        self.environment = {**variables, "LANG": "C.UTF-8"}

    def run(self, folder: Path, *words: str, status: int = 0) -> str:
        """Run a command; return what it prints."""
        command = [self.bin / words[0], *words[1:]]
        completed = ran(*command, cwd=folder, env=self.environment)
        assert completed.returncode == status, f"{words}: {completed.stdout}{completed.stderr}"
        return completed.stdout + completed.stderr

    def tensormark(self, folder: Path, *words: str, status: int = 0) -> str:
        """Run one of tensormark's commands."""
        return self.run(folder, "tensormark", *words, status=status)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("elsewhere")
    build = "-m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir".split()
    command = [sys.executable, *build, str(folder), str(SOURCES)]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return Place(folder, wheel)


@pytest.fixture(scope="module")
def course(place: Place) -> Path:
    """A new assignment, begun by the installed command."""
    place.tensormark(place.folder, "new", "Signals")
    return place.folder / "Signals"


@pytest.mark.tier(CONTAINED)  # the tier in which the class is graded
@pytest.mark.timeout(600)
def test_from_an_empty_folder_to_a_graded_class(place: Place, tmp_path: Path) -> None:
    folder = follow(PAGE, tmp_path, place.environment)

    assert (folder / "class" / "feedback" / "ann" / "report.html").is_file()


def test_the_commands_of_the_readme_print_what_it_shows(place: Place, tmp_path: Path) -> None:
    assert follow(README, tmp_path, place.environment) == tmp_path / "first"


def test_the_environment_imports_the_wheel(place: Place) -> None:
    code = "import tensormark; print(tensormark.__file__)"

    assert place.run(place.folder, "python", "-c", code).startswith(str(place.bin.parent))


def test_outside_of_an_assignment_a_command_says_where_to_go(place: Place) -> None:
    output = place.tensormark(place.folder, "check", status=2)

    assert output.count("\n") == 1
    assert "there is no grader/assignment.py here" in output


def test_a_page_and_other_formats_are_written(place: Place, course: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    result = tmp_path / "result.json"
    place.tensormark(course, "report", "solution", "--out", str(page), "--json", str(result))

    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert json.loads(place.tensormark(course, "convert", "gradescope", str(result)))["tests"]


def test_a_hand_in_is_packed_and_graded(place: Place, course: Path, tmp_path: Path) -> None:
    out = tmp_path / "submission.zip"

    assert "it scored 100 of 100 here" in place.tensormark(
        course, "submit", "solution", "--out", str(out)
    )
    assert zipfile.ZipFile(out).namelist() == [toy.MAIN]


def test_a_file_is_checked_again_when_it_is_saved(
    place: Place, course: Path, tmp_path: Path
) -> None:
    source = (course / "starter" / toy.MAIN).read_text(encoding="utf-8")
    submission = tmp_path / toy.MAIN
    submission.write_text(source, encoding="utf-8")
    command = place.bin / "tensormark", "watch", submission
    with Running(course, *command, env=place.environment) as watch:
        assert "not written yet  conv" in watch.until(WAITING)
        time.sleep(0.2)  # a file system may have no finer times
        shutil.copy(course / "solution" / toy.MAIN, submission)
        assert "passed           conv" in watch.until(WAITING)


def test_students_grade_with_the_release(place: Place, course: Path) -> None:
    archive = course / "dist" / "signals.zip"
    unpacked = place.folder / "student"
    place.tensormark(course, "release")
    with zipfile.ZipFile(archive) as release:
        release.extractall(unpacked)
    (wheel,) = unpacked.glob("signals/engine/*.whl")
    assert wheel.read_bytes() == this_wheel().content
    student = Place(place.folder / "students own", wheel)

    assert "score   0 / 80" in student.tensormark(unpacked / "signals", "check")
    shutil.copy(course / "solution" / toy.MAIN, unpacked / "signals" / "starter")
    assert "score   100 / 100" in student.tensormark(unpacked / "signals", "grade")
    practice = "viva starter --page no --n 1".split()
    assert "1 of 1. " in student.tensormark(unpacked / "signals", *practice)
