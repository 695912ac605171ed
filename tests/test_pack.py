"""What `make submit` packs of several files: those that were edited."""

import re
import shutil
import zipfile
from pathlib import Path

import pytest

from tensormark import submit
from tensormark.sandbox.interface import PROCESS
from tensormark.strictest import Strictest

from conftest import ROOT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "starter", tmp_path / "starter"))


def test_the_pack_holds_what_was_edited_and_is_graded(
    folder: Path, tmp_path: Path, capsys, monkeypatch
) -> None:
    here = Strictest(PROCESS, ("contained: no bubblewrap", "locked: no Landlock"))
    monkeypatch.setattr(submit, "strictest", lambda *_: here)
    (folder / "optimizer.py").write_text("x = 1\n", encoding="utf-8")
    (folder / "rope.py").write_text("x = 1\n", encoding="utf-8")
    out = tmp_path / "submission.zip"

    assert submit.main(ROOT, "submit", [str(folder), "--out", str(out)]) == 0

    said = capsys.readouterr().out
    with zipfile.ZipFile(out) as archive:
        assert archive.namelist() == ["bert.py", "optimizer.py"]
    assert "packed: bert.py (" in said
    assert "optimizer.py (6 bytes)" in said
    assert "not written, left out: pretraining.py, transformer.py" in said
    assert "not handed in: rope.py" in said
    assert f"submission: {out}   tier: process" in said
    assert "cannot use tier contained: no bubblewrap" in said
    assert re.search(r"hand in .*: it scored 0 of 100 here", said)
