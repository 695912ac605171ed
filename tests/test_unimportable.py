"""A submission that cannot be imported is reported once, with the student's line and advice."""

import shutil
import zipfile
from pathlib import Path

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.result import Finding

from bench import Bench
from conftest import ROOT, Grade

TOP = "import math\n"
IMPORTABLE = (
    "only the standard library, torch, numpy, matplotlib, safetensors, tokenizers and tqdm can be "
    "imported; put code from your other files into bert.py"
)
ORIGINAL_CONFIG = "you are graded with the original config.py: put your additions into bert.py"


def test_the_fine_tune_is_blocked_by_the_file_that_cannot_be_imported(
    grade: Grade, tmp_path: Path
) -> None:
    source = (ROOT / "solution" / "bert.py").read_text(encoding="utf-8")
    (tmp_path / "bert.py").write_text(source.replace(TOP, f"{TOP}import requests\n"), "utf-8")
    graded = grade(str(tmp_path / "bert.py"), training=True)

    sentiment = graded.exercise("sentiment")
    assert sentiment["outcome"] == "blocked"
    assert sentiment["note"] == "by bert.py, which cannot be imported"


def finding_of(bench: Bench, source: str) -> Finding:
    """Return the first finding of the first exercise; all are the same if the import fails."""
    results = bench.grade(source)
    findings = [result.findings for result in results.values()]
    assert all(others == findings[0] for others in findings)
    return findings[0][0]


@pytest.mark.parametrize(
    ("line", "raised", "advice"),
    [
        ("import rope", "ModuleNotFoundError: No module named 'rope'", IMPORTABLE),
        ("from lora.linear import A", "ModuleNotFoundError: No module named 'lora'", IMPORTABLE),
        ("import requests", "ModuleNotFoundError: No module named 'requests'", IMPORTABLE),
        (
            "from starter.utils import x",
            "ModuleNotFoundError: No module named 'starter'",
            "leave out `starter.`: the given files are imported by their own names",
        ),
        ("from config import LORA", "ImportError: cannot import name 'LORA' from", ORIGINAL_CONFIG),
        ("import config; config.RANK", "AttributeError: module 'config' has no", ORIGINAL_CONFIG),
        ("config = __import__('config').BertConfig(); config.rank", "'rank'", ORIGINAL_CONFIG),
        ("1 / 0", "ZeroDivisionError: division by zero", None),
        ("raise SystemExit", "SystemExit", None),
        ("raise NotImplementedError", "NotImplementedError", None),
    ],
)
def test_a_failure_at_import_is_explained(
    bench: Bench, line: str, raised: str, advice: str | None
) -> None:
    finding = finding_of(bench, bench.source.replace(TOP, f"{TOP}{line}\n"))

    number = bench.source[: bench.source.index(TOP)].count("\n") + 2
    assert finding.headline == "bert.py cannot be imported"
    assert raised in finding.details[0]
    assert f"(bert.py, line {number})" in finding.details[0]
    assert len(finding.details) == 2
    assert advice in (None, finding.details[1])


TESTS_AT_THE_END = {
    "a wrong size": "BertModel(BertConfig(hidden_size=7))",
    "a missing file": "BertConfig.from_json('no_such_file.json')",
    "a checkpoint": "BertModel.from_pretrained('bert-base-uncased')",
    "a mask": "get_extended_attention_mask([1, 1], torch.float32)",
}


@pytest.mark.parametrize("line", TESTS_AT_THE_END.values(), ids=TESTS_AT_THE_END)
def test_code_at_the_end_of_the_file_is_reported_with_its_own_line(bench: Bench, line: str) -> None:
    source = f"{bench.source}\nfrom config import BertConfig\n{line}\n"

    finding = finding_of(bench, source)

    assert f"(bert.py, line {source.count(chr(10))})" in finding.details[0]


def test_an_added_field_of_the_config_is_explained(bench: Bench) -> None:
    replacement = "self.all_head_size = config.lora_rank * "
    results = bench.grade(bench.source.replace("self.all_head_size = ", replacement))

    finding = results["attention"].findings[0]
    assert "has no attribute 'lora_rank' (bert.py, line" in finding.headline
    assert finding.details == (ORIGINAL_CONFIG, "read: handout.md, Problem (attention)")


@pytest.mark.parametrize("name", ["None", "5", "['bert']"])
def test_a_module_of_any_name_without_its_class_is_explained(bench: Bench, name: str) -> None:
    source = f"{bench.source}\n\ndel BertModel\n__name__ = {name}\n"

    results = bench.grade(source, "embed")

    assert "has no class BertModel; its names are fixed" in results["embed"].findings[0].headline


def test_an_import_within_a_function_is_explained_in_its_exercise(bench: Bench) -> None:
    source = bench.source.replace("words = self.word", "import rope; words = self.word")

    results = bench.grade(source)

    assert results["embed"].findings[0].details[0] == IMPORTABLE
    assert results["attention"].score == 25


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
