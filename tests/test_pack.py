"""What `make submit` packs of several files: those that were edited."""

import re
import shutil
import zipfile
from pathlib import Path

import pytest

from tensormark import submit
from tensormark.sandbox.interface import PROCESS
from tensormark.strictest import Strictest
from tests.helpers import ROOT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "starter", tmp_path / "starter"))


def test_the_archive_holds_the_edited_files_and_is_graded(
    folder: Path, tmp_path: Path, capsys, monkeypatch
) -> None:
    tier = Strictest(PROCESS, ("contained: no bubblewrap", "locked: no Landlock"))
    monkeypatch.setattr(submit, "strictest", lambda *_: tier)
    (folder / "optimizer.py").write_text("x = 1\n", encoding="utf-8")
    (folder / "rope.py").write_text("x = 1\n", encoding="utf-8")
    out = tmp_path / "submission.zip"

    assert submit.main(ROOT, "submit", [str(folder), "--out", str(out)]) == 0

    output = capsys.readouterr().out
    with zipfile.ZipFile(out) as archive:
        assert archive.namelist() == ["bert.py", "optimizer.py"]
    assert "packed: bert.py (" in output
    assert "optimizer.py (6 bytes)" in output
    assert "not written, left out: pretraining.py, transformer.py" in output
    assert "not handed in: rope.py" in output
    assert f"submission: {out}   tier: process" in output
    assert "cannot use tier contained: no bubblewrap" in output
    assert re.search(r"hand in .*: it scored 0 of 100 here", output)
