"""The starter is the solution without its regions, and markers that do not pair up are errors.

Nobody's work in starter/ is overwritten.
"""

import re

import pytest

from tensormark.authoring.strip import strip
from tensormark.cli import run
from tensormark.exercise import Assignment
from tensormark.usage import UserError
from testkit.graded import files_in

SOURCE = """def f(x):
    # TODO(one): write it.
    ### BEGIN SOLUTION one
    y = x + 1
    return y
    ### END SOLUTION one


def g(x):
    return x
"""
STARTER = """def f(x):
    # TODO(one): write it.
    raise NotImplementedError("one")


def g(x):
    return x
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "    y = x",
            "    ### BEGIN SOLUTION two\n    y = x",
            "f.py:3: `### BEGIN SOLUTION one` is",
        ),
        ("    ### END SOLUTION one\n", "", "f.py:3: `### BEGIN SOLUTION one` is nested"),
        ("    ### BEGIN SOLUTION one\n", "", "f.py:5: `### END SOLUTION one` is nested"),
        ("END SOLUTION one", "END SOLUTION two", "f.py:3: `### BEGIN SOLUTION one` is nested"),
        ("BEGIN SOLUTION one", "BEGIN SOLUTION", "f.py:3: `### BEGIN SOLUTION` is nested"),
        ("BEGIN SOLUTION", "BEGINN SOLUTION", "f.py:3: `### BEGINN SOLUTION one` is nested"),
        ("TODO(one)", "TODO", "f.py: one has no `# TODO(one):`"),
    ],
    ids=["nested", "unclosed", "stray", "renamed", "unnamed", "misspelt", "no TODO"],
)
def test_markers_that_do_not_pair_up_are_errors(old, new, message):
    with pytest.raises(UserError, match=re.escape(message)):
        strip(SOURCE.replace(old, new), "f.py")


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A repository with a solution and its starter."""
    (tmp_path / "solution" / "package").mkdir(parents=True)
    for name in ("main.py", "package/part.py"):
        (tmp_path / "solution" / name).write_text(SOURCE, "utf-8")
    harness = tmp_path / "harness.py"
    assignment = Assignment("Mine", tmp_path, ("main.py", "more.py"), ("main",), (), harness)
    monkeypatch.setattr("tensormark.authoring.strip.open_assignment", lambda folder: assignment)
    assert run(tmp_path, "starter", []) == 0
    return tmp_path


def test_a_region_becomes_one_raise_in_packages_too(clone):
    starter = {name: text.decode() for name, text in files_in(clone / "starter").items()}
    assert starter == dict.fromkeys(("main.py", "package/part.py"), STARTER)


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        (
            "starter/main.py",
            STARTER.replace('raise NotImplementedError("one")', "return x + 1"),
            "starter/main.py: one is written there, and would be overwritten",
        ),
        ("starter/rope.py", "y = 2\n", "starter/rope.py: there is no such file in solution/"),
        ("solution/main.py", None, "starter: there is no solution/main.py to derive from"),
    ],
)
def test_work_in_the_starter_is_not_overwritten(clone, capsys, name, text, complaint):
    if text is None:
        (clone / name).unlink()
    else:
        (clone / name).write_text(text, "utf-8")
    before = files_in(clone)

    assert run(clone, "starter", []) == 2

    assert files_in(clone) == before
    assert complaint in capsys.readouterr().err


def test_the_starter_follows_an_edit_of_the_solution_and_drift_is_found(clone, capsys):
    two = SOURCE.replace("one", "two").replace("def f", "def h")
    for text in ("a = 1\n" + SOURCE, SOURCE + "\n\n" + two, two):
        (clone / "solution" / "main.py").write_text(text, "utf-8")
        (clone / "solution" / "new.py").write_text(text, "utf-8")

        assert run(clone, "starter", ["--check"]) == 1
        assert "starter/main.py is out of date with solution/" in capsys.readouterr().err
        assert run(clone, "starter", []) == run(clone, "starter", ["--check"]) == 0
