"""The starter is the solution without its regions, and markers that do not pair up are errors.

Nobody's work in starter/ is overwritten without a request, nor without a copy.
"""

import json
from pathlib import Path

import pytest

from tensormark.authoring.strip import strip
from tensormark.cli import run
from tensormark.exercise import Assignment
from tensormark.files import sha256
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
    """A repository with a solution, its starter, and the manifest of both."""
    for name in ("main.py", "utils.py"):
        (tmp_path / "solution").mkdir(exist_ok=True)
        (tmp_path / "solution" / name).write_text(SOURCE, encoding="utf-8")
    harness = tmp_path / "harness.py"
    assignment = Assignment("Mine", tmp_path, ("main.py", "more.py"), ("main",), (), harness)
    monkeypatch.setattr("tensormark.authoring.strip.open_assignment", lambda folder: assignment)
    assert run(tmp_path, "starter", []) == 0
    digests = {path.name: sha256(path) for path in (tmp_path / "starter").iterdir()}
    (tmp_path / "reference_outputs").mkdir()
    manifest = tmp_path / "reference_outputs" / "manifest.json"
    manifest.write_text(json.dumps({"starter": digests}), encoding="utf-8")
    (tmp_path / "runs" / "starter.json").unlink()
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_drift_is_found_and_named(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (clone / "solution" / "utils.py").write_text("# changed\n", encoding="utf-8")

    assert run(clone, "starter", ["--check"]) == 1
    assert "starter/utils.py is out of date with solution/" in capsys.readouterr().err


def test_work_in_the_starter_is_not_overwritten(clone: Path, capsys) -> None:
    (clone / "starter" / "main.py").write_text("x = 1\n", encoding="utf-8")
    (clone / "starter" / "rope.py").write_text("y = 2\n", encoding="utf-8")
    (clone / "solution" / "utils.py").write_text("z = 3\n", encoding="utf-8")
    before = contents(clone)

    assert run(clone, "starter", []) == 2

    assert contents(clone) == before
    complaint = capsys.readouterr().err
    assert "starter/main.py, starter/rope.py: edited" in complaint
    assert "nothing was changed" in complaint
    assert "`tensormark starter --force`" in complaint


def test_force_overwrites_work_and_keeps_every_copy(clone: Path, capsys) -> None:
    for number in (1, 2):
        (clone / "starter" / "main.py").write_text(f"x = {number}\n", encoding="utf-8")
        (clone / "starter" / "rope.py").write_text(f"y = {number}\n", encoding="utf-8")
        assert run(clone, "starter", ["--force"]) == 0
        assert f"to starter.backup-{number}/" in capsys.readouterr().out

    assert run(clone, "starter", ["--check"]) == 0
    for number in (1, 2):
        backup = clone / f"starter.backup-{number}"
        assert (backup / "main.py").read_text("utf-8") == f"x = {number}\n"
        assert (backup / "rope.py").read_text("utf-8") == f"y = {number}\n"
        assert not (backup / "utils.py").exists()


@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "not recorded between"])
def test_an_untouched_starter_follows_every_edit_of_the_solution(
    clone: Path, recorded: bool
) -> None:
    if not recorded:
        (clone / "reference_outputs" / "manifest.json").unlink()
        assert run(clone, "starter", []) == 0
    for line in ("a = 1\n", "a = 2\n", "a = 3\n"):
        (clone / "solution" / "main.py").write_text(line + SOURCE, encoding="utf-8")
        (clone / "solution" / "new.py").write_text(line, encoding="utf-8")

        assert run(clone, "starter", []) == 0
        assert run(clone, "starter", ["--check"]) == 0

    (clone / "solution" / "new.py").unlink()
    assert run(clone, "starter", []) == 0
    assert not (clone / "starter" / "new.py").exists()
    assert not list(clone.glob("starter.backup-*"))


def test_windows_line_endings_are_not_work(clone: Path) -> None:
    path = clone / "starter" / "main.py"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    assert run(clone, "starter", []) == 0
    assert run(clone, "starter", ["--check"]) == 0


def test_without_a_manifest_everything_is_taken_for_work(clone: Path) -> None:
    (clone / "reference_outputs" / "manifest.json").write_text("[]", encoding="utf-8")
    (clone / "solution" / "main.py").write_text("a = 1\n", encoding="utf-8")

    assert run(clone, "starter", []) == 2


def test_without_a_solution_the_starter_stays(clone: Path, capsys) -> None:
    for path in (clone / "solution").iterdir():
        path.unlink()
    before = contents(clone)

    assert run(clone, "starter", ["--force"]) == 2

    assert contents(clone) == before
    assert capsys.readouterr().err == "starter: there is no solution/main.py to derive from\n"


def test_nothing_is_overwritten_if_a_copy_cannot_be_made(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (clone / "starter" / "main.py").write_text("x = 1\n", encoding="utf-8")
    before = contents(clone)

    def fail(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tensormark.authoring.strip.write_whole", fail)

    assert run(clone, "starter", ["--force"]) == 2
    assert contents(clone) == before
