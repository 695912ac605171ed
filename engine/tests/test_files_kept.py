"""A file that stands where a result is to be written is replaced only by its own kind."""

from pathlib import Path

import pytest

from tensormark import grade, submit
from tensormark.gradescope import build as gradescope
from tensormark.release import build as release

WORK = "# an evening's work\n"


@pytest.mark.parametrize(
    "command",
    [
        lambda folder, path: submit.main(folder, "submit", ["solution", "--out", path]),
        lambda folder, path: grade.main(folder, "check", ["solution", "--json", path]),
        lambda folder, path: grade.main(folder, "report", ["solution", "--out", path]),
        lambda folder, path: release.main(folder, "release", ["--out", path]),
        lambda folder, path: gradescope.main(
            folder, "gradescope", ["--references", "reference_outputs", "--out", path]
        ),
    ],
    ids=["submit", "--json", "report", "release", "gradescope"],
)
def test_a_file_of_another_kind_is_not_replaced(
    folder: Path, tmp_path: Path, command, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "work.py"
    path.write_text(WORK, encoding="utf-8")

    status = command(folder, str(path))

    assert status == 2
    assert path.read_text("utf-8") == WORK
    assert f"{path}: already exists, and is not a ." in capsys.readouterr().err
