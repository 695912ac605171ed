"""The notebook of a release: every cell runs, and what it shows is there afterwards."""

import json
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from graded import program
from tensormark.release.build import main as build
from tensormark.wheel import wheel
from tests.helpers import ROOT

NOTEBOOK = ROOT / "instructor" / "students" / "colab.ipynb"
CELLS = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
CODE = ["".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"]


def run(cell: str, names: dict[str, Any]) -> str:
    """Run a cell as a notebook does, with lines that begin with ! in a shell; return their output.

    Args:
        names: what earlier cells have defined.
    """
    printed: list[str] = []

    def shell(command: str) -> None:
        completed = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        assert completed.returncode == 0, completed.stderr
        printed.append(completed.stdout)

    names["_shell"] = shell
    exec(re.sub(r"^( *)!(.+)$", lambda m: f"{m[1]}_shell({m[2]!r})", cell, flags=re.M), names)
    return "".join(printed)


@pytest.fixture
def pictures(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Stand in for a notebook's display; return the pictures that it has shown."""
    pictures: list[bytes] = []
    module = types.ModuleType("IPython.display")
    module.Image = lambda name: Path(name).read_bytes()  # type: ignore[attr-defined]
    module.display = pictures.append  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return pictures


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("release") / "minbert.zip"
    assert build(ROOT, "release", ["--out", str(out)]) == 0
    return out


@pytest.fixture
def folder(release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a notebook with minbert.zip in it, and the packages installed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    shutil.copy(release, tmp_path)
    python = program(tmp_path / "minbert" / ".venv" / "bin" / "python")
    for name in (f".{wheel().name}", ".installed"):
        (python.parents[1] / name).touch()
    return tmp_path / "minbert"


def test_the_notebook_is_given_out_without_outputs() -> None:
    assert len(CODE) > 3
    assert [cell for cell in CELLS if cell.get("outputs") or cell.get("execution_count")] == []


@pytest.mark.parametrize("written", [False, True])
def test_every_cell_runs_and_says_what_to_write_next(
    folder: Path, pictures: list[bytes], written: bool
) -> None:
    if written:
        (folder / "starter").mkdir()
        shutil.copy(ROOT / "solution" / "bert.py", folder / "starter")
    names: dict[str, Any] = {}

    output = run(CODE[0], names) + run(CODE[1], names)

    if not written:
        assert "not written yet  attention    0/25" in output
        with pytest.raises(AssertionError, match=r"Problem \(\w+\) is not written yet"):
            run(CODE[2], names)
        return
    output += "".join(run(cell, names) for cell in CODE[2:])
    assert "score   80 / 80" in output
    assert "score   100 / 100" in output
    assert [picture[:4] for picture in pictures] == [b"\x89PNG"]
    assert (folder / "submission.zip").is_file()
