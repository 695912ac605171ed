"""A submission that cannot be imported is reported once, with the student's line and advice."""

import shutil
import zipfile
from pathlib import Path

import pytest

from graded import Grade
from grader.assignment import ASSIGNMENT
from tests.helpers import ROOT

TOP = "import math\n"


def test_the_fine_tune_is_blocked_by_the_file_that_cannot_be_imported(
    grade: Grade, tmp_path: Path
) -> None:
    source = (ROOT / "solution" / "bert.py").read_text(encoding="utf-8")
    (tmp_path / "bert.py").write_text(source.replace(TOP, f"{TOP}import requests\n"), "utf-8")
    graded = grade(str(tmp_path / "bert.py"), training=True)

    sentiment = graded.exercise("sentiment")
    assert sentiment["outcome"] == "blocked"
    assert sentiment["note"] == "by bert.py, which cannot be imported"


@pytest.mark.parametrize("form", ["folder", "zip", "file"])
def test_the_advice_for_a_module_beside_the_file_is_to_copy_it(
    grade: Grade, tmp_path: Path, solution_source: str, form: str
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "rope.py").write_text("x = 1\n", encoding="utf-8")
    source = solution_source.replace(TOP, f"{TOP}import rope\n")
    (folder / "bert.py").write_text(source, encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "mine.zip", "w") as archive:
        for path in folder.iterdir():
            archive.write(path, f"mine/{path.name}")
    forms = {"folder": folder, "zip": tmp_path / "mine.zip", "file": folder / "bert.py"}

    graded = grade(forms[form], training=form == "folder")

    graded_files = "bert.py, optimizer.py, pretraining.py and transformer.py"
    advice = f"only {graded_files} are graded: copy what you need from rope into bert.py"
    assert graded.output.count(advice) == graded.output.count("No module named 'rope'") == 1
    assert graded.output.count("bert.py cannot be imported (see attention)") == len(
        graded.outcomes().keys()
        - {e.id for e in ASSIGNMENT.exercises if e.extension}
        - {"attention", "sentiment"}
    )
    assert all(
        advice in graded.exercise(name)["message"]
        for name, outcome in graded.outcomes().items()
        if outcome == "failed"
    )


def test_an_extension_that_cannot_be_imported_costs_no_other_exercise(
    grade: Grade, tmp_path: Path
) -> None:
    shutil.copy(ROOT / "solution" / "bert.py", tmp_path)
    text = (ROOT / "solution" / "transformer.py").read_text(encoding="utf-8")
    (tmp_path / "transformer.py").write_text(f"import rope\n{text}", encoding="utf-8")

    graded = grade(tmp_path)

    assert graded.result["score"] == 80
    assert "transformer.py cannot be imported" in graded.exercise("causal_mask")["message"]
    assert graded.output.count("No module named 'rope'") == 1


def test_the_packages_in_the_advice_are_those_that_are_installed() -> None:
    pinned = (ROOT / "requirements.txt").read_text(encoding="utf-8")

    assert all(f"\n{name}==" in pinned for name in ASSIGNMENT.packages)
