"""The house rules that a machine can watch: who imports whom, sizes of files, reasons of pins."""

import ast
import re
from pathlib import Path

import pytest

from conftest import ROOT

GRADER = ROOT / "grader"
LEAVES = {"protocol", "compare", "outcomes", "stand_ins", "returned", "policy", "archives"}
# module to the grader modules that it may import; `cases` stands for the package
ALLOWED = {
    **{name: set() for name in LEAVES},
    "calls": {"stand_ins", "returned"},
    "worker": {"calls", "protocol"},
    "reply_buffer": {"protocol"},
    "lockdown": set(),
    "zygote": {"calls", "reply_buffer", "lockdown", "protocol", "worker"},
    "wall": {"protocol"},
    "seccomp": {"wall"},
    "intake": {"archives"},
    "store": {"protocol"},
    "diagnose": {"compare"},
    "report": {"outcomes"},
}
SOURCES = sorted(
    path
    for folder in ("solution", "starter", "grader", "instructor", "tests", "benchmarks")
    for path in (ROOT / folder).rglob("*.py")
)


def imported(path: Path) -> set[str]:
    """Return every module that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def grader_modules(path: Path) -> set[str]:
    """Return the grader's modules that a file imports, by their first name."""
    names = {name.split(".")[1] for name in imported(path) if name.startswith("grader.")}
    return {name for name in names if (GRADER / f"{name}.py").exists() or name == "cases"}


@pytest.mark.parametrize("module", sorted(ALLOWED))
def test_a_grader_module_imports_only_what_it_may(module: str) -> None:
    assert grader_modules(GRADER / f"{module}.py") <= ALLOWED[module]


def test_cases_import_no_other_grader_module() -> None:
    for path in (GRADER / "cases").glob("*.py"):
        assert grader_modules(path) <= {"cases"}


def test_only_the_workers_side_of_the_grader_imports_torch() -> None:
    with_torch = {
        path.name
        for path in GRADER.rglob("*.py")
        if any(name.split(".")[0] == "torch" for name in imported(path))
    }

    assert with_torch <= {"worker.py", "calls.py", "stand_ins.py", "returned.py", "zygote.py"}


@pytest.mark.parametrize("folder", ["solution", "starter"])
def test_students_code_imports_nothing_of_the_grader(folder: str) -> None:
    for path in (ROOT / folder).glob("*.py"):
        first = {name.split(".")[0] for name in imported(path)}
        assert not first & {"grader", "instructor", "tests"}, path


def test_no_file_is_longer_than_330_lines() -> None:
    long = {str(p): n for p in SOURCES if (n := len(p.read_text("utf-8").splitlines())) > 330}

    assert not long


def test_the_solution_fits_in_a_readers_head() -> None:
    assert len((ROOT / "solution" / "bert.py").read_text("utf-8").splitlines()) < 200


def test_there_is_no_star_import() -> None:
    assert [path for path in SOURCES if any(n.endswith(".*") for n in imported(path))] == []


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-staff.txt"])
def test_every_requirement_is_pinned_with_its_reason(name: str) -> None:
    for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith(("#", "-r")):
            assert re.fullmatch(r"[a-z-]+==[\w.]+ +# .{10,}", line), line


def test_make_names_every_target_with_its_purpose() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", text, re.M)
    assert phony is not None

    described = set(re.findall(r"^([a-z-]+):.*## .+$", text, re.M))
    assert described == set(phony[1].split())
