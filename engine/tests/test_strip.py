"""The starter is the solution without its regions, and markers that do not pair up are errors.

Nobody's work in starter/ is overwritten.
"""

from pathlib import Path

import pytest

from tensormark.authoring.strip import strip
from tensormark.cli import run
from tensormark.exercise import Assignment
from tensormark.usage import UserError

SOURCE = """def f(x):
    # TODO(one): write it.
    ### BEGIN SOLUTION one
    y = x + 1
    return y
    ### END SOLUTION one


def g(x):
    return x
"""


WRITTEN = """def f(x):
    # TODO(one): write it.
    return x + 1
"""


def test_a_region_becomes_one_raise() -> None:
    assert strip(SOURCE, "f.py") == (
        'def f(x):\n    # TODO(one): write it.\n    raise NotImplementedError("one")\n\n\n'
        "def g(x):\n    return x\n"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            SOURCE.replace("    y = x", "    ### BEGIN SOLUTION two\n    y = x"),
            "two begins inside one",
        ),
        (SOURCE.replace("    ### END SOLUTION one\n", ""), "f.py:3: one is never closed"),
        (SOURCE.replace("    ### BEGIN SOLUTION one\n", ""), "one ends, but never begins"),
        (SOURCE.replace("END SOLUTION one", "END SOLUTION two"), "two ends inside one"),
        (SOURCE.replace("BEGIN SOLUTION one", "BEGIN SOLUTION"), "a region needs a name"),
        (SOURCE.replace("BEGIN SOLUTION", "BEGINN SOLUTION"), "looks like a marker"),
        (SOURCE.replace("TODO(one)", "TODO"), "no `# TODO(one):`"),
    ],
    ids=["nested", "unclosed", "stray", "renamed", "unnamed", "misspelt", "no TODO"],
)
def test_markers_that_do_not_pair_up_are_errors(text: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        strip(text, "f.py")

    assert message in str(error.value)


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a solution and its starter."""
    for name in ("main.py", "utils.py"):
        (tmp_path / "solution").mkdir(exist_ok=True)
        (tmp_path / "solution" / name).write_text(SOURCE, encoding="utf-8")
    harness = tmp_path / "harness.py"
    assignment = Assignment("Mine", tmp_path, ("main.py", "more.py"), ("main",), (), harness)
    monkeypatch.setattr("tensormark.authoring.strip.open_assignment", lambda folder: assignment)
    assert run(tmp_path, "starter", []) == 0
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_drift_is_found_and_named(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (clone / "solution" / "utils.py").write_text("# changed\n", encoding="utf-8")

    assert run(clone, "starter", ["--check"]) == 1
    assert "starter/utils.py is out of date with solution/" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("main.py", WRITTEN, "starter/main.py: one is written there, and would be overwritten"),
        ("rope.py", "y = 2\n", "starter/rope.py: there is no such file in solution/"),
    ],
)
def test_work_in_the_starter_is_not_overwritten(
    clone: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, complaint: str
) -> None:
    (clone / "starter" / name).write_text(text, encoding="utf-8")
    (clone / "solution" / "utils.py").write_text("z = 3\n", encoding="utf-8")
    before = contents(clone)

    assert run(clone, "starter", []) == 2

    assert contents(clone) == before
    assert complaint in capsys.readouterr().err


def test_the_starter_follows_every_edit_of_the_solution(clone: Path) -> None:
    two = SOURCE.replace("one", "two").replace("def f", "def h")
    for text in ("a = 1\n" + SOURCE, SOURCE + "\n\n" + two, two):
        (clone / "solution" / "main.py").write_text(text, encoding="utf-8")
        (clone / "solution" / "new.py").write_text(text, encoding="utf-8")

        assert run(clone, "starter", []) == 0
        assert run(clone, "starter", ["--check"]) == 0


def test_a_package_is_derived_with_its_files(clone: Path) -> None:
    package = clone / "solution" / "package"
    package.mkdir()
    (package / "part.py").write_text(SOURCE, encoding="utf-8")

    assert run(clone, "starter", []) == 0

    derived = (clone / "starter" / "package" / "part.py").read_text("utf-8")
    assert derived == strip(SOURCE, "part.py")
    assert run(clone, "starter", ["--check"]) == 0


def test_windows_line_endings_are_not_work(clone: Path) -> None:
    path = clone / "starter" / "main.py"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    assert run(clone, "starter", []) == 0
    assert run(clone, "starter", ["--check"]) == 0


def test_without_a_solution_the_starter_stays(clone: Path, capsys) -> None:
    for path in (clone / "solution").iterdir():
        path.unlink()
    before = contents(clone)

    assert run(clone, "starter", []) == 2

    assert contents(clone) == before
    assert capsys.readouterr().err == "starter: there is no solution/main.py to derive from\n"
