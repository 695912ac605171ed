"""An exercise with two right answers: a submission agrees with one of them throughout."""

import pytest

from tensormark.authoring import new, record
from tensormark.authoring.course import open_course
from tensormark.folder import open_assignment
from testkit import toy
from testkit.benches import faults
from testkit.graded import edited

SOLUTION = '''"""Two functions."""

import numpy as np


def scaled(x: np.ndarray) -> np.ndarray:
    """Return x divided by its spread."""
    # TODO(scaled): divide by the standard deviation, of the values or of what they are drawn from.
    ### BEGIN SOLUTION scaled
    return x / x.std()
    ### END SOLUTION scaled


def limited(x: np.ndarray) -> np.ndarray:
    """Return scaled values, at most 1."""
    # TODO(limited): scale, and limit.
    ### BEGIN SOLUTION limited
    return np.minimum(scaled(x), 1.0)
    ### END SOLUTION limited
'''
EXERCISE = '''"""An exercise."""

from tensormark.toolkit import Sizes, exercise, usual


def draw(rng, call):
    return {{"x": rng.standard_normal(call.sizes.N)}}


EXERCISE = exercise(
    "{id}", ("x",), draw, sizes=Sizes(N=6), arrays="numpy", probes=usual("{id}", Sizes(N=9)),
    id="{id}", order={order}, title="{id}", file="clusters.py", upstream={upstream},
    points={{"values": 6, "properties": 2}},
)
'''
HONEST = '''"""Right code."""

from tensormark.authoring.variants import Honest

HONEST = (
    Honest("of_a_sample", {"scaled": "return x / x.std(ddof=1)"}, differs=True),
    Honest("by_a_product", {"scaled": "return x * (1 / x.std())"}),
)
'''
MISTAKES = '''"""Mistakes."""

from tensormark.authoring.variants import mistakes

VARIANTS = mistakes("limited", """
## Limits

from_below: the limit is from below
    - np.minimum
    + np.maximum
""")
'''
PROBLEM = "\n### Problem ({0}): {0} (8 points, about 5 minutes)\n\n**Limits**. At most 1.\n"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two") / "Two"
    new.write(folder, numpy=True)
    for path in [*folder.glob("grader/exercises/[!_]*.py"), *folder.glob("grader/mistakes/*.py")]:
        path.unlink()
    (folder / "solution/clusters.py").write_text(SOLUTION, "utf-8")
    (folder / "grader/honest/others.py").write_text(HONEST, "utf-8")
    (folder / "grader/mistakes/limited.py").write_text(MISTAKES, "utf-8")
    for order, (name, upstream) in enumerate({"scaled": (), "limited": ("scaled",)}.items()):
        text = EXERCISE.format(id=name, order=order, upstream=upstream)
        (folder / f"grader/exercises/{name}.py").write_text(text, "utf-8")
    problems = "".join(map(PROBLEM.format, ("scaled", "limited")))
    (folder / "handout.md").write_text(f"# Two\n\n## Problems\n{problems}", "utf-8")
    return open_course(open_assignment(toy.derived(folder)))


def test_other_answers_are_recorded_where_they_differ(course, capsys):
    recorded = course.assignment.references.glob("*.safetensors")

    names = ["limited", "limited@of_a_sample", "scaled", "scaled@of_a_sample"]
    assert sorted(path.stem for path in recorded) == names
    assert record.main(course.assignment.folder, "references", ["--check"]) == 0


def test_each_right_answer_passes_throughout(bench, course):
    assert faults(bench, course) == {}


@pytest.mark.parametrize(
    ("edits", "scores", "mistake"),
    [
        ({"x.std()": "x.std(ddof=1)"}, (8, 8), None),
        ({"x.std()": "x.std(ddof=1)", "minimum": "maximum"}, (8, 0), "from_below"),
        ({"minimum(scaled(x)": "minimum(x / x.std(ddof=1)"}, (8, 0), None),
        ({"x.std()": "x.std(ddof=1)", "minimum(scaled(x)": "minimum(x / x.std()"}, (8, 0), None),
        ({"x.std()": "x.std() + 1", "minimum(scaled(x)": "minimum(x / x.std()"}, (0, 8), None),
    ],
)
def test_a_submission_agrees_with_one_solution(bench, edits, scores, mistake):
    source = edited(bench.sources["clusters"], *edits.items())

    results = bench.results({"clusters": source}, tasks=False)

    assert (results["scaled"].score, results["limited"].score) == scores
    assert [each.mistake for each in results["limited"].findings] == [mistake] * (not scores[1])
