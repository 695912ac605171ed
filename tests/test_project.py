"""The house rules that a machine can watch: who imports whom, sizes of files, reasons of pins."""

import ast
import re
import statistics
from pathlib import Path

import pytest

from conftest import ROOT

SOURCES = sorted(
    path
    for folder in ("solution", "starter", "grader", "instructor", "tests", "benchmarks")
    for path in (ROOT / folder).rglob("*.py")
)


# A line a room: what a module may import of the grader and of instructor/, besides its own room.
# A name stands for the module or for all that is below it; a module that no line is for fails.
ROOMS = {
    "grader": "",
    "grader.files": "",
    "grader.zipped": "",
    "grader.letters": "",
    "grader.trouble": "",
    "grader.result": "",
    "grader.literals": "",
    "grader.observer": "grader.result",
    "grader.references": "grader.files",
    "grader.handout": "",
    "grader.selection": "grader.exercise grader.intake",
    "grader.worker": "",
    "grader.sandbox": "grader.files grader.letters grader.trouble grader.worker.protocol "
    "grader.worker.reply_buffer",
    "grader.task": "grader.references grader.sandbox.interface",
    "grader.exercise": "grader.files grader.task",
    "grader.assignment": "grader.files grader.exercise grader.literals grader.references "
    "grader.result grader.sandbox.interface grader.task grader.trouble",
    "grader.assignment.harness": "grader.worker.calls grader.worker.outputs",
    "grader.intake": "grader.files grader.exercise",
    "grader.judging": "grader.exercise grader.references grader.result "
    "grader.sandbox.interface grader.trouble",
    "grader.settings": "grader.files grader.intake.submission grader.sandbox.interface",
    "grader.session": "grader.exercise grader.intake grader.judging grader.literals "
    "grader.observer grader.references grader.result grader.sandbox.interface grader.settings "
    "grader.task grader.trouble",
    "grader.grading": "grader.assignment grader.exercise grader.handout grader.intake "
    "grader.judging grader.observer grader.references grader.result grader.sandbox "
    "grader.selection grader.session grader.settings",
    "grader.reports": "grader.files grader.letters grader.result",
    "grader.strictest": "grader.assignment grader.exercise grader.sandbox grader.settings",
    "grader.submit": "grader.assignment grader.files grader.grading grader.intake "
    "grader.references grader.reports grader.result grader.sandbox.interface grader.settings "
    "grader.strictest grader.zipped",
    "grader.watch": "grader.assignment grader.grading grader.intake grader.reports grader.result "
    "grader.sandbox grader.selection grader.settings",
    "grader.__main__": "grader.files grader.grading grader.intake grader.reports "
    "grader.sandbox grader.settings",
    "instructor": "",
    "instructor.course": "grader instructor.files instructor.references",
    "instructor.figures": "grader.files",
    "instructor.files": "",
    "instructor.on_solution": "grader.files",
    "instructor.language": "grader.files instructor.files",
    "instructor.pretraining": "grader.files instructor.language instructor.on_solution",
    "instructor.huggingface": "grader.files instructor.files instructor.on_solution "
    "instructor.pretraining",
    "instructor.gate": "grader.files instructor.files",
    "instructor.release": "grader instructor.references",
    "instructor.gradescope": "grader instructor.release",
    "instructor.gradescope.run": "grader",  # alone in the autograder's zip
    "instructor.references": "grader instructor.files instructor.language "
    "instructor.release.given_out instructor.release.needles",
    "instructor.steps": "",
    "instructor.term": "grader.assignment grader.files instructor.files instructor.references "
    "instructor.steps",
}


def module_name(path: Path) -> str:
    """Return the dotted name of a module of this repository."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in SOURCES if path.is_relative_to(ROOT / "grader")}
MODULES |= {module_name(path): path for path in SOURCES if path.is_relative_to(ROOT / "instructor")}


def within(name: str, place: str) -> bool:
    """Say whether a module is a place or below it."""
    return name == place or name.startswith(f"{place}.")


def room_of(module: str) -> str:
    """Return the line of ROOMS that is for a module: the most precise one, and not a bare root."""
    found = [room for room in ROOMS if within(module, room)]
    found = [room for room in found if "." in room or room == module]
    assert found, f"tests/test_project.py has no import rule for {module}"
    return max(found, key=len)


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


def own_imports(path: Path) -> set[str]:
    """Return the modules of the grader and of instructor/ that a file imports."""
    names = {name for name in imported(path) if name in MODULES}
    # `from grader.sandbox import slot` names the package as well
    return names - {name for name in names if any(within(other, name) for other in names - {name})}


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_module_imports_only_what_its_room_may(module: str) -> None:
    room = room_of(module)
    places = [room, *ROOMS[room].split()]

    names = own_imports(MODULES[module])

    assert [name for name in names if not any(within(name, place) for place in places)] == []


def test_every_room_has_a_module() -> None:
    assert {room_of(module) for module in MODULES} == set(ROOMS)


def test_no_two_modules_import_each_other_round_a_circle() -> None:
    left = {module: own_imports(path) - {module} for module, path in MODULES.items()}

    while leaves := [module for module, needs in left.items() if not needs & left.keys()]:
        for module in leaves:
            del left[module]
    assert sorted(left) == []


def test_only_the_workers_side_of_the_grader_imports_torch() -> None:
    with_torch = {
        path.name
        for path in (ROOT / "grader").rglob("*.py")
        if any(name.split(".")[0] == "torch" for name in imported(path))
    }

    assert with_torch == {
        "main.py",
        "warm.py",
        "dynamo.py",
        "forbidden.py",
        "overlay.py",
        "calls.py",
        "outputs.py",
        "state.py",
        "zygote.py",
        "harness.py",
    }


@pytest.mark.parametrize("folder", ["solution", "starter"])
def test_students_code_imports_nothing_of_the_grader(folder: str) -> None:
    for path in (ROOT / folder).glob("*.py"):
        first = {name.split(".")[0] for name in imported(path)}
        assert not first & {"grader", "instructor", "tests"}, path


def test_modules_of_the_grader_are_small() -> None:
    lengths = [
        len(path.read_text("utf-8").splitlines())
        for path in MODULES.values()
        if path.is_relative_to(ROOT / "grader") and path.name != "__init__.py"
    ]

    assert statistics.median(lengths) < 130
    assert max(lengths) < 300


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
            assert re.fullmatch(r"[a-z0-9-]+==[\w.]+ +# .{10,}", line), line


def test_make_names_every_target_with_its_purpose() -> None:
    for file, mark in (("Makefile", "="), ("instructor/staff.mk", r"\+=")):
        text = (ROOT / file).read_text(encoding="utf-8")
        phony = re.search(rf"^TARGETS {mark} ((?:.*\\\n)*.*)$", text, re.M)
        assert phony is not None

        described = set(re.findall(r"^([a-z-]+):.*## .+$", text, re.M))
        assert described == set(phony[1].replace("\\", "").split())
