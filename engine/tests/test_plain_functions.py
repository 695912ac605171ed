"""Functions that return plain numbers or that a stand-in plays, an optimizer, and own kinds."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from tensormark.authoring.course import open_course
from tensormark.folder import open_assignment
from tensormark.worker.stand_ins import function_replaced
from testkit import toy
from testkit.benches import faults, wrong

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    folder = toy.make(tmp_path_factory.mktemp("plain") / "assignment", HERE / "plain")
    return open_course(open_assignment(folder))


def test_each_mistake_costs_its_own_exercise_and_is_named(bench, course):
    assert faults(bench, course) == [None] * 11


def test_an_exercise_that_calls_a_wrong_function_is_right_with_a_stand_in(bench):
    source = bench.sources["norms"].replace("square()", "abs()")

    results = bench.results({"norms": source}, tasks=False)

    assert results["scaled"].score == 0
    assert results["block"].note == "right when given a correct scaled"


# --- plain numbers ------------------------------------------------------------------------------


RATE = "step / warm if step < warm else (warm / step) ** 0.5"


@pytest.mark.parametrize(
    ("new", "got"),
    [
        ("str(step / warm)", "a string"),
        ("torch.ones(2)", "an array"),
        ("10**400", "1000000000"),
        ("{}", "a dictionary"),
        ("print", "not a value of type builtin_function_or_method"),
    ],
)
def test_a_result_that_is_not_a_number_is_named(bench, new, got):
    results = bench.results({"steps": bench.sources["steps"].replace(RATE, new)}, tasks=False)

    (finding,) = results["rate"].findings
    assert results["rate"].score == 0
    assert got in f"{finding.headline} {finding.details}"


def test_a_number_may_be_a_tensor_of_one_element(bench):
    assert wrong(bench, "steps", (RATE, f"torch.tensor(float({RATE}))")) == {}


# --- stand-ins ----------------------------------------------------------------------------------


def test_a_function_is_replaced_under_every_name_and_put_back(tmp_path, monkeypatch):
    first = ModuleType("first_of_two")
    second = ModuleType("second_of_two")  # it has imported from the first
    for module in (first, second):
        module.__file__ = str(tmp_path / f"{module.__name__}.py")
        monkeypatch.setitem(sys.modules, module.__name__, module)
    exec("def f(x):\n    return x + 1", vars(first))
    original = second.g = first.f

    with function_replaced(first, "f", lambda x: 10 * x):
        assert [first.f(2), second.g(x=2)] == [20, 20]
    with function_replaced(first, "missing", lambda x: 10 * x):
        assert first.missing(2) == 20

    assert first.f is second.g is original
    assert not hasattr(first, "missing")


# --- kinds of an assignment's own ---------------------------------------------------------------

CHOICE = "return int(scores.argmax())"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("__import__('random').seed(0)", "the call changes something other than its output"),
        ("torch.set_default_dtype(torch.float64)", "the call changes something other than its"),
        ("scores.mul_(2.0)", "inputs are changed in place"),
    ],
    ids=["seed", "dtype", "input"],
)
def test_what_a_call_changes_besides_its_output_is_noticed(bench, line, message):
    changed = wrong(bench, "steps", (CHOICE, f"{line}\n    {CHOICE}"))

    ((name, (score, headline)),) = changed.items()
    assert (name, score) == ("choice", 3)
    assert headline.startswith(message)


# --- what is random -----------------------------------------------------------------------------


def test_a_random_output_is_not_called_dropout(bench):
    random = ("return x + torch", "return x * torch.rand(1) + torch")

    headline = "the same call gives different results: it draws random numbers in eval mode"
    assert wrong(bench, "steps", random)["block"] == (0, headline)
