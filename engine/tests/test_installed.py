"""The distribution as another course gets it: a wheel in an environment of its own.

The environment's path has none of the sources, only the packages that the wheel depends on. The
blocks of README and docs/first_assignment.md are run in it, in order.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tensormark.sandbox.tiers import CONTAINED
from tensormark.wheel import wheel as this_wheel
from testkit import toy
from testkit.graded import ran
from testkit.pages import PAGE, README, follow

SOURCES = Path(__file__).resolve().parents[1]


class Installation:
    """An environment with the wheel."""

    def __init__(self, folder, wheel):
        self.folder = folder
        venv.create(folder / "venv", symlinks=True, with_pip=False)
        self.bin = folder / "venv" / "bin"
        (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
        # after the environment's own packages, so that the wheel comes first
        (packages / "packages.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
        install = "-m pip install --quiet --no-deps --no-index --ignore-installed".split()
        pip = [str(self.bin / "python"), *install, str(wheel)]
        subprocess.run(pip, check=True, capture_output=True)
        variables = {"HOME": str(folder), "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}"}
        self.environment = {**variables, "LANG": "C.UTF-8"}

    def run(self, folder, *words):
        """Run a command; return what it prints."""
        completed = ran(self.bin / words[0], *words[1:], cwd=folder, env=self.environment)
        assert completed.returncode == 0, f"{words}: {completed.stdout}{completed.stderr}"
        return completed.stdout


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("elsewhere")
    build = "-m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir".split()
    command = [sys.executable, *build, str(folder), str(SOURCES)]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return Installation(folder, wheel)


@pytest.mark.tier(CONTAINED)  # the tier in which the class is graded
@pytest.mark.timeout(600)
def test_from_an_empty_folder_to_a_graded_class(place, tmp_path):
    code = "import tensormark; print(tensormark.__file__)"
    assert place.run(place.folder, "python", "-c", code).startswith(str(place.bin.parent))

    folder = follow(PAGE, tmp_path, place.environment)

    assert (folder / "class" / "feedback" / "ann" / "report.html").is_file()


def test_the_commands_of_the_readme_print_what_it_shows_and_students_grade_with_the_release(
    place, tmp_path
):
    follow(README, tmp_path, place.environment)
    course = tmp_path / "first"
    place.run(course, "tensormark", "release")
    with zipfile.ZipFile(course / "dist" / "first.zip") as release:
        release.extractall(tmp_path / "student")
    folder = tmp_path / "student" / "first"
    (wheel,) = folder.glob("engine/*.whl")
    student = Installation(tmp_path / "students own", wheel)

    assert wheel.read_bytes() == this_wheel().content
    assert "score   0 / 80" in student.run(folder, "tensormark", "check")
    shutil.copy(course / "solution" / toy.MAIN, folder / "starter")
    assert "score   100 / 100" in student.run(folder, "tensormark", "grade")
    student.run(folder, "tensormark", "viva", "starter", "--n", "1")
    assert (folder / "viva.html").is_file()
