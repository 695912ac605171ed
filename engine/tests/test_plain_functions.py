"""Functions instead of modules: in the assignment plain/, replaced by a stand-in, and called."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import torch

from tensormark.authoring.course import open_course
from tensormark.folder import open_assignment
from tensormark.worker.calls import Answer, run_kind
from tensormark.worker.stand_ins import function_replaced
from testkit import toy
from testkit.benches import faults

PLAIN = Path(__file__).with_name("plain")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    folder = toy.make(tmp_path_factory.mktemp("plain") / "assignment", PLAIN)
    return open_course(open_assignment(folder))


def test_each_mistake_costs_its_own_exercise_and_is_named(bench, course):
    assert faults(bench, course) == {}


def test_a_function_is_replaced_under_every_name_and_put_back(tmp_path, monkeypatch):
    first = ModuleType("first_of_two")
    second = ModuleType("second_of_two")
    for module in (first, second):
        module.__file__ = str(tmp_path / f"{module.__name__}.py")
        monkeypatch.setitem(sys.modules, module.__name__, module)
    exec("def f(x):\n    return x + 1", vars(first))
    original = first.f
    second.g = first.f  # as after `from first_of_two import f as g`

    with function_replaced(first, "f", lambda x: 10 * x):
        assert (first.f(2), second.g(x=2)) == (20, 20)
    with function_replaced(first, "missing", lambda x: 10 * x):
        assert first.missing(2) == 20

    assert first.f is second.g is original
    assert not hasattr(first, "missing")


def test_what_an_own_kind_of_call_changes_besides_its_output_is_reported():
    def careless(context, call, tensors, progress):
        torch.manual_seed(7)
        tensors["x"] += 1
        return Answer({}, {"out/output": torch.ones(2)})

    call = {"kind": "careless", "args": ["x"], "literals": {}, "target": "f"}
    answer = run_kind(careless, SimpleNamespace(tape=None), call, {"x": torch.zeros(2)}, None)

    assert answer.message["changed"] == ["the random seed"]
    assert answer.tensors["after/x"].tolist() == [1, 1]
