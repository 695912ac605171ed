"""Assignments on arrays of numpy and on plain values, also where torch is not installed."""

import shutil
import sys
import venv
from importlib.metadata import distribution

import pytest

from tensormark.authoring import new, record
from tensormark.authoring.course import open_course
from tensormark.cli import main
from tensormark.folder import open_assignment
from tensormark.sandbox.tiers import CONTAINED
from tensormark.usage import UserError
from testkit import toy
from testkit.benches import faults, wrong
from testkit.graded import edit, edited, ran
from testkit.texts import blocks

GROUPED = "grader/exercises/grouped.py"
PACKAGES = (
    "tensormark numpy safetensors jinja2 markupsafe tqdm pyseccomp pyyaml distributed".split()
)
MORE = '''

def spread(points: np.ndarray) -> float:
    """Return the standard deviation of all coordinates."""
    # TODO(spread): one number.
    ### BEGIN SOLUTION spread
    return points.std()
    ### END SOLUTION spread


class Chain:
    """Guesses the next word."""

    def __init__(self, words: list[str]) -> None:
        self.words = words

    def after(self, word: str, count: int, rng: np.random.Generator) -> tuple[str, int]:
        """Return one of the words that follow a word, and how often it was asked."""
        # TODO(after): draw one of them, if there are any.
        ### BEGIN SOLUTION after
        found = [b for a, b in zip(self.words, self.words[1:], strict=False) if a == word]
        return (found[rng.integers(len(found))] if found else ""), count
        ### END SOLUTION after
'''
AFTER = """
from tensormark.toolkit import exercise, probe
from tensormark.toolkit.probes import second_call

WORDS = "one two one six ten two ten six one four six five".split()


def draw(rng, call):
    words = "five seven eight nine zero".split() if call.inputs == "last" else ["one", "six"]
    return {"word": str(rng.choice(words)), "count": int(rng.integers(10**6))}


EXERCISE = exercise(
    "Chain.after", ("word", "count", "*generator"), draw, arrays="numpy", options={"words": WORDS},
    call={"form": "value"}, forbidden={"random.choice": "draw with rng", "numpy.linalg": "no need"},
    probes=(
        probe("words", "values", "the next word is wrong"),
        probe("last", "values", "the last word has no next one", inputs="last"),
        second_call(),
    ),
    id="after", order=30, title="the next word", file="clusters.py",
    points={"values": 6, "properties": 2},
)
"""
SPREAD = """
from tensormark.toolkit import exercise


def draw(rng, call):
    return {"points": rng.standard_normal((5, 2))}


EXERCISE = exercise("spread", ("points",), draw, arrays="numpy", file="clusters.py")
"""
HANDOUT = """
### Problem (after): the next word (8 points, about 5 minutes)

**Draws**. Draw.

### Problem (spread): the spread (4 points, about 5 minutes)
"""


def completed(folder):
    """Write an assignment on arrays and values, with a method that draws, and derive the rest."""
    new.write(folder, numpy=True)
    (folder / "grader/exercises/after.py").write_text(AFTER, "utf-8")
    (folder / "grader/exercises/spread.py").write_text(SPREAD, "utf-8")
    for file, text in (("solution/clusters.py", MORE), ("handout.md", HANDOUT)):
        with (folder / file).open("a", encoding="utf-8") as opened:
            opened.write(text)
    return toy.derived(folder)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return open_course(open_assignment(completed(tmp_path_factory.mktemp("numpy") / "Week 1")))


def test_each_mistake_is_named_and_right_code_passes(bench, course):
    assert faults(bench, course) == {}
    assert wrong(bench, "clusters", (".argmin(1)", ".argmin(1).astype(np.float32)")) == {}
    assert not course.assignment.uses_torch


# an exercise, its score, a part of what is said, and what is changed
WRONG = """
nearest 0: return a numpy array, got a list
    - distances.argmin(1)
    + list(distances.argmin(1))
nearest 0: the output has a wrong shape
    - distances.argmin(1)
    + distances
nearest 0: an array of type object
    - distances.argmin(1)
    + distances.astype(object)
nearest 0: nearest gives a wrong output
    - distances.argmin(1)
    + distances.min(1)
nearest 6: inputs are changed in
    - distances.argmin(1)
    + (points.sort(), distances.argmin(1))[1]
nearest 6: something other
    - distances.argmin(1)
    + (np.random.seed(1), distances.argmin(1))[1]
nearest 6: right for some sizes
    - distances.argmin(1)
    + distances.argmin(1) ^ (len(points) < 9)
grouped 0: grouped gives a wrong output
    - return groups
    + return groups, 1
grouped 6: inputs are changed in place
    - return groups
    + words.clear(); return groups
grouped 0: not a value of type builtin_function
    - return groups
    + return {'a': print}
grouped 6: raised KeyError: 'an empty word'
    - raise ValueError(
    + raise KeyError(
grouped 6: raised
    - raise ValueError(
    + raise type('ValueError', (Exception,), {})(
spread 0: the output has a wrong shape
    - points.std()
    + np.array([points.std()])
spread 0: the output has a wrong shape
    - points.std()
    + points.std(keepdims=True)
spread 0: return a numpy array, got a tuple
    - points.std()
    + points.std(), points
after 0: the next word is wrong
    - rng.integers(len(found))
    + 0
after 6: something other
    - rng.integers(len(found))
    + (np.random.random(), rng.integers(len(found)))[1]
after 0: raised
    - found[rng.integers(len(found))] if found else ""
    + found[rng.integers(len(found))]
after 6: a call with other inputs
    - rng.integers(len(found))
    + np.random.default_rng(0).integers(len(found))
after 0: here: draw with rng
    - found[rng.integers(len(found))]
    + __import__('random').choice(found)
"""


@pytest.mark.parametrize("case", blocks(WRONG), ids=lambda case: case[-1])
def test_what_is_wrong_is_said_of_arrays_and_of_values(bench, case):
    said, old, text = case
    result, _, says = said.partition(": ")

    found = wrong(bench, "clusters", (old.removeprefix("- "), text.removeprefix("+ ")))

    ((name, (score, headline)),) = found.items()
    assert f"{name} {score:g}" == result, headline
    assert says in headline


def finding_of(bench, exercise, old, new_text):
    """Return the only finding in an exercise with an edit of the solution."""
    source = edited(bench.sources["clusters"], (old, new_text))
    (finding,) = bench.results({"clusters": source}, tasks=False)[exercise].findings
    return finding


def test_a_plain_argument_that_a_function_changes_is_named_with_the_line(bench):
    finding = finding_of(bench, "grouped", "return groups", "words.sort()\n    return groups")

    assert "the call changes words in place" in finding.details
    assert finding.place["text"] == "words.sort()"


@pytest.mark.parametrize(
    ("exercise", "old", "text"),
    [
        ("nearest", "distances.argmin(1)", "[int(each) for each in (distances + 1.5).argmin(1)]"),
        ("grouped", "return groups", "return None"),
    ],
)
def test_no_line_is_shown_where_a_value_of_another_type_is_returned(bench, exercise, old, text):
    assert finding_of(bench, exercise, old, text).place is None


def test_a_scalar_of_any_type_is_a_scalar(bench):
    for text in ("float(points.std())", "np.array(points.std())"):
        assert wrong(bench, "clusters", ("points.std()", text)) == {}


def test_the_inputs_that_raise_may_be_the_same_for_each_seed(course, tmp_path):
    folder = shutil.copytree(course.assignment.folder, tmp_path / "copy")
    edit(folder / GROUPED, '[*words, ""]', '[""]')

    assert record.main(folder, "references", ["--seed", "7", "--out", str(folder / "own")]) == 0


@pytest.mark.parametrize(
    ("error", "named"), [('"ValueEror"', "'ValueEror'"), ("ValueError", "<class 'ValueError'>")]
)
def test_an_exception_that_does_not_exist_is_refused_by_name(course, tmp_path, error, named):
    folder = shutil.copytree(course.assignment.folder, tmp_path / "copy")
    edit(folder / GROUPED, '"an empty word"', f'"an empty word", {error}')

    with pytest.raises(UserError) as refused:
        record.main(folder, "references", [])

    assert str(refused.value) == (
        f"grouped: an empty word: there is no exception {named} in Python or solution/clusters.py"
    )


@pytest.mark.parametrize("line", ["import torch", "import_module('torch')", "import jinja2"])
def test_what_is_not_listed_cannot_be_imported_though_it_is_installed(bench, line):
    start = "    from importlib import import_module\n    "
    failed = wrong(bench, "clusters", ("    groups: dict", f"{start}{line}\n    groups: dict"))

    assert failed["grouped"][1].startswith("raised ModuleNotFoundError: No module named")


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """The Python of an environment that has what the engine needs, and no torch."""
    folder = tmp_path_factory.mktemp("elsewhere")
    venv.create(folder, symlinks=True, with_pip=False)
    (place,) = folder.glob("lib/python*/site-packages")
    for name in PACKAGES:
        files = distribution(name).files or []
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            (place / top).symlink_to(distribution(name).locate_file(top))
    return folder / "bin" / "python"


@pytest.mark.tier(CONTAINED)
@pytest.mark.timeout(600)
def test_everything_works_where_torch_is_not_installed(elsewhere, tmp_path):
    folder = completed(tmp_path / "Week 1")
    submissions = tmp_path / "submissions"
    submissions.mkdir()
    shutil.copy(folder / "solution/clusters.py", submissions / "ada.py")
    (submissions / "eve.py").write_text("import torch\n", "utf-8")

    def run(*words):
        environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        command = (elsewhere, "-P", "-m", "tensormark", *words)
        return ran(*command, cwd=folder, env=environment)

    def output(*words):
        done = run(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "is up to date" in output("references")
    assert "! " not in output("prove")
    assert "score   28 / 28" in output("check", "solution", "--tier", "process")
    private = ("--references", "reference_outputs/private")
    output("references", "--seed", "77", "--out", private[1])
    graded = output("class", submissions, *private)
    assert "2 students: 1 graded, 1 cannot be imported" in graded
    feedback = (folder / "class/feedback/eve/report.html").read_text("utf-8")
    assert "raised ModuleNotFoundError (clusters.py, line 1)" in feedback
    output("handout")
    output("release")
    output("gradescope", *private)
    new.write(tmp_path / "Week 3")
    refused = run("-C", tmp_path / "Week 3", "references")
    assert refused.returncode == 2
    assert refused.stderr.endswith(
        "Week 3 computes with torch, which is not installed; "
        'run `pip install "tensormark[torch]"`, or give each exercise arrays="numpy"\n'
    )


def test_tensors_are_refused_where_submissions_cannot_import_torch(tmp_path):
    new.write(tmp_path / "Week 4")
    (tmp_path / "Week 4" / "requirements.txt").write_text("numpy\n", "utf-8")

    with pytest.raises(UserError, match=r"requirements\.txt has no torch, which an exercise"):
        record.main(tmp_path / "Week 4", "references", [])


def test_a_command_whose_packages_are_not_installed_names_them(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "yaml", None)
    for name in [n for n in sys.modules if n.startswith("tensormark.classroom")]:
        monkeypatch.delitem(sys.modules, name)

    assert main(["class", "--help"]) == 2

    assert 'run `pip install "tensormark[class]"`' in capsys.readouterr().err
