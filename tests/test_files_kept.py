"""What stands where a result is to be written is replaced only by its own kind."""

from pathlib import Path

import pytest

from grader.__main__ import main as grade
from grader.submit import main as submit
from instructor.gradescope.build import main as gradescope
from instructor.release.build import main as release

WORK = "# an evening's work\n"


@pytest.mark.parametrize(
    "command",
    [
        lambda path: submit(["solution", "--out", path]),
        lambda path: grade(["solution", "--check", "--json", path]),
        lambda path: grade(["solution", "--check", "--report", path]),
        lambda path: release(["--out", path]),
        lambda path: gradescope(["--references", "reference_outputs", "--out", path]),
    ],
    ids=["submit", "JSON=", "report", "release", "gradescope"],
)
def test_a_file_of_another_kind_is_not_replaced(
    tmp_path: Path, command, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bert.py"
    path.write_text(WORK, encoding="utf-8")

    status = command(str(path))

    assert status == 2
    assert path.read_text("utf-8") == WORK
    assert f"{path}: is there, and is not a ." in capsys.readouterr().err
