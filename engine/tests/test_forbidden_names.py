"""Every name that an assignment may forbid is enforced, and all others are refused by name."""

import dataclasses
import sys

import pytest

from tensormark.exercise import Call
from tensormark.policy import Policy, rules_of, usual_names
from tensormark.sandbox.interface import Request, WorkerStartError
from tensormark.sandbox.sandbox import Sandbox
from tensormark.sandbox.tiers import PROCESS, TIERS
from tensormark.usage import UserError
from testkit.asking import X, program_of_ways
from testkit.graded import ran
from testkit.texts import pairs
from testkit.tiers import marked

HEAD = """
import collections, copy, datetime, functools, heapq, itertools, math, random, statistics
import numpy as np
import torch
import torch.nn.functional as F
from numpy import dot as kept

taken = torch.linalg.det
del torch.linalg.det
TABLE, square = {"sqrt": math.sqrt}, torch.eye(3)
arrays = np.ones(3), np.eye(3)


class Steps(torch.optim.NAdam):
    pass


class Own(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {})

    def step(self):
        self.param_groups[0]["params"][0].data.add_(1)


"""
# forbidden names, and bodies of functions that use them
STOPPED = pairs("""
torch.linalg.svd
    torch.svd(square)
torch.linalg
    from torch import linalg as l; l.inv(square)
    taken(square)
torch.Tensor.cumsum
    torch.cumsum(x, 0)
torch.einsum
    torch.einsum('i,i->', x, x)
torch.nn.functional.gelu
    torch.nn.GELU()(x)
torch.nn.functional.linear
    torch.nn.Linear(3, 2)(square)
torch.matmul
    square @ square
torch.chunk
    square.chunk(3)
torch.squeeze
    square.squeeze(0)
torch.sum
    square.sum()
torch.optim
    Steps([torch.nn.Parameter(x)])
torch.ops.aten.native_layer_norm_backward
    torch.layer_norm(x.requires_grad_(), [2]).sum().backward()
numpy.dot
    kept(*arrays)
    functools.reduce(np.dot, arrays)
    eval('np.dot(*a)', {'np': np, 'a': arrays})
    exec('np.dot(*a)', {'np': np, 'a': arrays, '__name__': 'numpy'})
numpy.sqrt
    np.sqrt(4.0)
numpy.linalg.svd
    np.linalg.svd(arrays[1])
numpy.linalg
    np.linalg.svd(arrays[1])
numpy
    eval('np.ones(3)')
math.sqrt
    TABLE['sqrt'](4)
    list(map(math.sqrt, [4]))
    random._sqrt(4)
random.shuffle
    random.Random(1).shuffle([1, 2])
random.random
    random.random()
itertools.permutations
    list(itertools.permutations([1, 2]))
random
    random.choice([1]); random.Random(1).shuffle([1, 2])
numpy.random.rand
    np.random.rand(2)
itertools
    list(itertools.permutations([1, 2]))
builtins.sorted
    sorted([2, 1])
copy.deepcopy
    copy.deepcopy([1])
numpy.linalg.norm
    np.linalg.norm.__wrapped__(arrays[0])
numpy.maximum
    np.maximum.reduce(arrays[0])
itertools.chain
    list(itertools.chain.from_iterable([[1]]))
given.helper
    from given import helper; helper()
""")
# what the same rules let through
FREE = pairs("""
torch.linalg
    torch.norm(x); x @ x
torch.optim
    own = Own([torch.nn.Parameter(x)]); own.step(); own.zero_grad()
numpy.dot
    np.matmul(*arrays); np.linalg.matrix_power(arrays[1], 2); x.numpy()
numpy.linalg
    np.sqrt(4.0); np.linalg; torch.linalg.norm(x)
math.sqrt
    random.gauss(0, 1); statistics.stdev([1, 2, 4]); torch.nn.Linear(2, 2)(x); math.pi
itertools
    isinstance([], itertools.chain); copy.copy(itertools.chain); sorted([2, 1])
itertools.permutations
    isinstance(itertools.permutations, type); sum([1]); heapq.merge([1])
random.random
    random.Random(1).uniform(0, 1); random.randint(1, 2)
builtins.sorted
    statistics.median([1, 2]); heapq.nsmallest(1, [1])
numpy
    torch.ones(3).numpy()
collections.deque
    (collections.deque[int], collections.deque | None, None | collections.deque)
numpy.maximum
    assert isinstance(np.maximum, np.ufunc)
datetime.datetime
    functools.singledispatch(len).register(datetime.datetime, len)
""")
NO_SUCH_NAME = "there is no such name in the packages that submissions can import"
REFUSED = {
    "torch.linalg.svdd": NO_SUCH_NAME,
    "nunpy.dot": NO_SUCH_NAME,
    "math.pi": "it is of type float, not a function, class or module",
    "builtins.list": "this type is used everywhere",
    "numpy.ndarray.dot": "it is a method of a compiled class; name the class",
    "torch.Tensor.__matmul__": "it is a method of a compiled class; name the class",
}
MALFORMED = ["", "torch.", "torch.nn Conv1d", "F.softmax()", "torch.*"]
WAYS = [*STOPPED, *FREE]


def guarded(names):
    program = program_of_ways(HEAD, (body for _, body in WAYS))
    sources = {**program.sources, "given": "def helper():\n    return 1\n"}
    rules = {name: "grader/assignment.py" for name in names if not name.startswith("given")}
    return dataclasses.replace(program, sources=sources, rules=rules)


@pytest.fixture(scope="module")
def sandbox(request):
    with Sandbox(request.param, guarded([name for name, _ in WAYS])) as opened:
        yield opened


def cases(numbers):
    """Return each way in the tier `process`, and some in the others."""
    return [
        pytest.param(
            tier, number, marks=pytest.mark.tier(tier), id=f"{tier} {': '.join(WAYS[number])}"
        )
        for tier in TIERS
        for number in numbers[:: 1 if tier == PROCESS else 9]
    ]


def ask(sandbox, number, forbidden):
    call = Call(f"way_{number}", ("x",), "main", kind="function").message()
    request = Request(f"{number}", frozenset(), call, {"x": X}, forbidden=forbidden)
    (reply,) = sandbox.run([request])
    return reply


@pytest.mark.parametrize(("sandbox", "number"), cases(range(len(STOPPED))), indirect=["sandbox"])
def test_a_forbidden_name_is_stopped_where_it_runs(sandbox, number):
    name, _ = STOPPED[number]
    assert ask(sandbox, number, ()).status == "ok"

    reply = ask(sandbox, number, (name,))

    assert reply.message.get("forbidden") == usual_names([name])[name], reply.text
    assert "(main.py, line " in reply.text


@pytest.mark.parametrize(
    ("sandbox", "number"), cases(range(len(STOPPED), len(WAYS))), indirect=["sandbox"]
)
def test_other_code_and_the_librarys_own_calls_are_not(sandbox, number):
    reply = ask(sandbox, number, WAYS[number][:1])

    assert reply.status == "ok", reply.text


@pytest.mark.parametrize("sandbox", [PROCESS], indirect=True)
def test_classes_with_methods_of_the_same_form_are_forbidden_together(sandbox):
    layers = ("torch.nn.TransformerEncoderLayer", "torch.nn.TransformerDecoderLayer")

    assert ask(sandbox, len(STOPPED), layers).status == "ok"


def test_names_that_cannot_be_forbidden_are_refused():
    rules = dict.fromkeys(REFUSED, "grader/assignment.py")
    code = f"""from tensormark.worker.forbidden import prepare
for name, where in {rules}.items():
    print(prepare({{name: where}}))"""

    said = ran(sys.executable, "-c", code).stdout.splitlines()

    assert said == [
        f"grader/assignment.py: {name} cannot be forbidden: {why}" for name, why in REFUSED.items()
    ]


@pytest.mark.parametrize("tier", marked(TIERS))
def test_nothing_is_graded_where_a_name_is_refused(tier):
    with pytest.raises(WorkerStartError) as caught, Sandbox(tier, guarded(["nunpy"])) as opened:
        ask(opened, 0, ())

    assert str(caught.value).startswith("grader/assignment.py: nunpy cannot be forbidden: ")


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_name_is_refused_when_the_assignment_is_opened(name):
    with pytest.raises(ValueError, match="not a full name"):
        Policy((name,))
    with pytest.raises(ValueError, match="is a tuple of names"):
        Policy(forbidden="torch.nn")
    with pytest.raises(ValueError, match=r"say in a line what to do instead of numpy\.dot"):
        Policy({"numpy.dot": " "})


def test_only_a_definition_in_a_given_file_is_no_rule_about_a_library(tmp_path):
    (tmp_path / "starter").mkdir()
    (tmp_path / "starter" / "torch.py").write_text("x = 1\n")  # a student's
    (tmp_path / "starter" / "given.py").write_text("def spell(): ...\n")

    rules = rules_of(tmp_path, Policy(("torch.nn.Linear", "given.spell")), {})

    assert rules == {"torch.nn.Linear": "grader/assignment.py"}
    with pytest.raises(UserError, match=r"given\.py does not define other, which"):
        rules_of(tmp_path, Policy(("given.other",)), {})
