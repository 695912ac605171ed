"""`make submit` packs what is handed in, and grades the pack in the strictest tier there is."""

import re
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from grader import strictest, submit
from grader.sandbox import seccomp
from grader.sandbox.interface import CONTAINED, LOCKED, PROCESS, TIERS
from grader.settings import Settings
from grader.strictest import Strictest

from conftest import ROOT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A student's folder: nothing is written in it yet."""
    return Path(shutil.copytree(ROOT / "starter", tmp_path / "starter"))


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has the tier `process` only."""
    found = Strictest(PROCESS, ("contained: no bubblewrap", "locked: no Landlock"))
    monkeypatch.setattr(submit, "strictest", lambda settings: found)


def packed(out: Path) -> list[str]:
    """Return the names in a zip."""
    with zipfile.ZipFile(out) as archive:
        return archive.namelist()


@pytest.mark.usefixtures("here")
def test_the_pack_holds_what_was_edited_and_is_graded(folder: Path, tmp_path: Path, capsys) -> None:
    (folder / "optimizer.py").write_text("x = 1\n", encoding="utf-8")
    (folder / "rope.py").write_text("x = 1\n", encoding="utf-8")
    out = tmp_path / "submission.zip"

    assert submit.main([str(folder), "--out", str(out)]) == 0

    said = capsys.readouterr().out
    assert packed(out) == ["bert.py", "optimizer.py"]
    assert "packed: bert.py (" in said
    assert "optimizer.py (6 bytes)" in said
    assert "not written, left out: pretraining.py, transformer.py" in said
    assert "not handed in: rope.py" in said
    assert f"submission: {out}   tier: process" in said
    assert "no tier contained: no bubblewrap" in said
    assert re.search(r"hand in .*: it scored 0 of 100 here", said)


@pytest.mark.usefixtures("here")
def test_equal_work_makes_equal_packs(folder: Path, tmp_path: Path) -> None:
    outs = [tmp_path / "a.zip", tmp_path / "b.zip"]

    for out in outs:
        assert submit.main([str(folder), "--out", str(out)]) == 0

    assert outs[0].read_bytes() == outs[1].read_bytes()


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "bert.py is empty"),
        (b"x = '\xff'\n", "bert.py:1: not UTF-8 text"),
        (None, "no bert.py"),
    ],
)
def test_what_cannot_be_read_is_not_packed(
    folder: Path, tmp_path: Path, capsys, content: bytes | None, complaint: str
) -> None:
    (folder / "bert.py").unlink()
    if content is not None:
        (folder / "bert.py").write_bytes(content)
    out = tmp_path / "submission.zip"

    assert submit.main([str(folder), "--out", str(out)]) == 2

    assert complaint in capsys.readouterr().err
    assert not out.exists()


def test_a_place_that_cannot_be_written_is_refused_first(tmp_path: Path, capsys) -> None:
    assert submit.main(["starter", "--out", str(tmp_path / "none" / "a.zip")]) == 2

    assert "OUT=" in capsys.readouterr().err


@pytest.mark.parametrize("lacking", [0, 1, 2, 3])
def test_the_first_tier_that_runs_a_call_is_taken(monkeypatch, lacking: int) -> None:
    missing = {tier: f"{tier} is missing" for tier in TIERS[:lacking]}
    monkeypatch.setattr(strictest, "fault_of", lambda tier, settings: missing.get(tier))

    found = strictest.strictest(Settings())

    assert found.tier == (CONTAINED, LOCKED, PROCESS, None)[lacking]
    assert found.reasons == tuple(f"{tier}: {tier} is missing" for tier in TIERS[:lacking])


def test_a_tier_that_cannot_start_is_a_fault(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pyseccomp", None)
    monkeypatch.setattr(seccomp, "compiled", seccomp.compiled.__wrapped__)  # nothing is kept

    assert "libseccomp2" in str(strictest.fault_of(LOCKED, Settings()))
    assert strictest.fault_of(PROCESS, Settings()) is None
