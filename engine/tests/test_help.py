"""Commands start without torch, and find the assignment from elsewhere."""

import os
import re
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tensormark.cli import run
from tensormark.folder import DOCS
from testkit import toy
from testkit.graded import edit, edited, ran
from testkit.resident import called


def test_no_command_imports_torch(folder):
    code = (
        "import importlib, sys\n"
        "from tensormark.cli import COMMANDS, main\n"
        "for command in COMMANDS.values():\n"
        "    importlib.import_module(f'tensormark.{command.module}').main\n"
        f"assert main(['-C', {str(folder)!r}, 'check', {str(folder / 'solution')!r}]) == 0\n"
        "print('torch' in sys.modules)\n"
    )

    assert ran(sys.executable, "-c", code).stdout.endswith("\nFalse\n")


def test_an_assignment_is_found_from_below_and_from_outside(folder, tmp_path, solution_source):
    wrong = tmp_path / toy.MAIN
    wrong.write_text(edited(solution_source, (toy.BIAS, "")), "utf-8")

    below = called(folder / "starter", "check", str(wrong))
    outside = called(tmp_path, "-C", str(folder), "check", toy.MAIN)

    for completed in (below, outside):
        assert "FAILED           conv         0/40   the bias is forgotten" in completed.stdout
        assert "right when given a correct conv" in completed.stdout


def test_an_assignment_that_cannot_be_imported_is_one_line(copy):
    definition = copy / "grader" / "assignment.py"
    definition.write_text("raise ValueError('one\\n\\ttwo')\n", "utf-8")

    completed = called(copy, "check", "solution")

    fault = "grader/assignment.py cannot be imported: ValueError: one two"
    assert (completed.returncode, completed.stderr) == (2, f"check: {fault}\n")


@pytest.mark.parametrize(
    ("engine", "says", "times"),
    [
        ("2.8", "", 0),
        ("2.6", "is for tensormark 2.6, and 2.8.1 is installed: read 2.8 and 2.7 in ", 1),
        ("9.0", "is for tensormark 9.0, and 2.8.1 is installed: upgrade it", 1),
        ("two", "engine='two' is not the beginning of a version, as is '2.8'", 2),
    ],
)
def test_an_assignment_for_another_version_says_once_what_changed(
    copy, monkeypatch, capsys, engine, says, times
):
    monkeypatch.setattr("importlib.metadata.version", lambda name: "2.8.1")
    edit(copy / "grader/assignment.py", 'engine=""', f'engine="{engine}"')

    for _ in range(2):
        run(copy, "starter", ["--check"])

    lines = capsys.readouterr().err.splitlines()
    assert [says in line for line in lines] == [True] * times


def test_the_changelog_has_a_heading_for_this_version():
    headings = re.findall(r"^## ([\d.]+)", (DOCS / "changelog.md").read_text("utf-8"), re.MULTILINE)

    assert headings[0] == version("tensormark").rpartition(".")[0]


def test_help_needs_no_assignment(tmp_path):
    assert called(tmp_path, "references", "--help").returncode == 0


def test_help_says_where_the_pages_are(tmp_path):
    said = called(tmp_path, "--help").stdout.splitlines()[-1]
    folder = Path(said.removeprefix("Its pages are in ").removesuffix("."))

    assert {"changelog.md", "first_assignment.md", "isolation.md"} == set(os.listdir(folder))
