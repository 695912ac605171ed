"""A file that stands where a result is to be written is replaced only if we wrote it."""

import errno
from pathlib import Path

import pytest

from tensormark.cli import run
from tensormark.files import write_whole
from tensormark.zipped import zipped

WORK = b"# an evening's work\n"


def test_a_file_that_cannot_be_written_whole_is_named(tmp_path, monkeypatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.chmod", full)
    with pytest.raises(OSError, match=r"\[Errno 28\] No space left on device: .*result\.json"):
        write_whole(tmp_path / "result.json", "{}")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [WORK, zipped({"main.py": WORK}), b'{"version": 1}\n', b""])
@pytest.mark.parametrize(
    "line",
    [
        "submit solution --out {}.zip",
        "check solution --json {}.json",
        "report solution --out {}.html",
        "viva solution --out {}.html",
        "release --out {}.zip",
        "gradescope --references reference_outputs --out {}.zip",
    ],
)
def test_a_file_that_we_did_not_write_is_not_replaced(
    folder: Path, tmp_path, line: str, content: bytes, capsys
) -> None:
    name, *options = line.format(tmp_path / "work").split()
    path = Path(options[-1])
    path.write_bytes(content)

    assert run(folder, name, options) == 2

    assert path.read_bytes() == content
    assert "already exists, and this command did not write it" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    ["report {folder}/solution --json {out}.json --out {out}.html", "release --out {out}.zip"],
)
def test_what_a_command_wrote_it_may_replace(folder: Path, tmp_path, line: str) -> None:
    name, *options = line.format(out=tmp_path / "work", folder=folder).split()

    assert run(folder, name, options) == run(folder, name, options) == 0
