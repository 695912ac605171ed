"""A file that stands where a result is to be written is replaced only by its own kind."""

from pathlib import Path

import pytest

from tensormark.cli import run

WORK = "# an evening's work\n"


@pytest.mark.parametrize(
    "line",
    [
        "submit solution --out",
        "check solution --json",
        "report solution --out",
        "release --out",
        "gradescope --references reference_outputs --out",
    ],
)
def test_a_file_of_another_kind_is_not_replaced(
    folder: Path, tmp_path: Path, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "work.py"
    path.write_text(WORK, encoding="utf-8")
    name, *options = line.split()

    assert run(folder, name, [*options, str(path)]) == 2

    assert path.read_text("utf-8") == WORK
    assert f"{path}: already exists, and is not a ." in capsys.readouterr().err
