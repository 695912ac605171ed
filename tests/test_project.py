"""The house rules that a machine can check: imports, nested loops, pinned versions, releases."""

import ast
import re
import tomllib

import pytest

from grader.assignment import ASSIGNMENT
from testkit.rules import Rooms, imported, modules_of
from tests.helpers import ROOT

# One line for each room: what a module of grader/ or instructor/ may import, besides its own room.
# A name stands for the module or for all that is below it; a module without a line fails. The
# engine's own tests say what is allowed within the engine.
ROOMS = {
    "grader": "",
    "grader.model": "tensormark",
    "grader.inputs": "grader.model tensormark",
    "grader.probes": "grader.model tensormark",
    "grader.locate": "tensormark",
    "grader.viva": "grader.model grader.viva_facts tensormark",
    "grader.viva_facts": "grader.model tensormark",
    "grader.forbidden": "",
    "grader.sentiment": "tensormark",
    "grader.exercises": "grader.inputs grader.model grader.probes grader.sentiment tensormark",
    "grader.harness": "tensormark.worker tensormark.toolkit",  # beside a student's code
    "grader.assignment": "grader.exercises grader.forbidden grader.locate tensormark",
    "grader.mistakes": "tensormark.authoring",
    "grader.honest": "tensormark.authoring",
    "grader.staff": "grader.sentiment instructor.hidden instructor.language instructor.release "
    "tensormark",
    "instructor": "",
    "instructor.cards": "",
    "instructor.figures": "tensormark",
    "instructor.language": "tensormark",
    "instructor.hidden": "instructor.language tensormark",
    "instructor.release": "grader.sentiment instructor.cards instructor.hidden tensormark",
    "instructor.hard_lines": "",
    "instructor.pretraining": "instructor.language tensormark",
    "instructor.huggingface": "instructor.hard_lines instructor.pretraining tensormark",
    "instructor.gate": "instructor.language tensormark",
    "instructor.term": "grader.assignment tensormark",
}
MODULES = modules_of(ROOT, "grader", "instructor")
RULES = Rooms(MODULES, ROOMS, elsewhere=("tensormark",))


def test_every_module_imports_only_what_its_room_may():
    RULES.check()


def test_only_the_workers_side_of_the_grader_imports_torch():
    with_torch = {
        path.name
        for path in (ROOT / "grader").rglob("*.py")
        if any(name.split(".")[0] == "torch" for name in imported(path))
    }

    assert with_torch == {"harness.py"}


@pytest.mark.parametrize("folder", ["solution", "starter"])
def test_students_code_imports_nothing_of_the_grader(folder):
    for path in (ROOT / folder).rglob("*.py"):
        first = {name.split(".")[0] for name in imported(path)}
        assert not first & {"grader", "instructor", "tensormark", "tests"}, path


def test_few_comprehensions_have_two_loops():
    nested = []
    for folder in ("engine", "grader", "instructor", "solution", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            nodes = ast.walk(ast.parse(path.read_text("utf-8")))
            nested += [path for node in nodes if len(getattr(node, "generators", ())) > 1]

    assert len(nested) <= 15, nested


@pytest.mark.parametrize(
    "name", ["requirements.txt", "instructor/requirements.txt", "tests/requirements.txt"]
)
def test_every_requirement_is_pinned_with_its_reason(name):
    for line in (ROOT / name).read_text("utf-8").splitlines():
        if line and not line.startswith(("#", "-r")):
            assert re.fullmatch(r"[a-z0-9-]+==[\w.]+ +# .{10,}", line), line


def test_the_packages_in_advice_are_those_that_are_installed():
    pinned = (ROOT / "requirements.txt").read_text("utf-8")

    assert all(f"\n{name}==" in pinned for name in ASSIGNMENT.packages)


def test_every_release_in_the_changelog_has_a_date_and_the_last_one_is_this():
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    headings = re.findall(r"^## (.*)$", text, re.M)
    releases = [re.fullmatch(r"([\d.]+) \(\d{4}-\d\d-\d\d\)", line) for line in headings]

    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert all(releases), headings
    assert releases[0][1] == version
    assert version.startswith(f"{ASSIGNMENT.engine}.")
