"""Call a student's function as described by a call, and return tensors. Runs in the worker.

There are three kinds of calls (see `Call` in tensormark/exercise.py): a method of an object that is
built with weights, a function, and the steps of an optimizer. An assignment adds its own kinds in
its harness, a module that defines as many of these names as its calls need:

    constructor_arguments(context, call)   the arguments of every constructor, besides `options`
    checkpoint_weights(context)            the frozen checkpoint's weights by parameter
    STAND_INS    name to stand-in: for a method, a function that takes the object and the method's
                 arguments; for a function, one that takes its arguments
    ARGUMENTS    name with an asterisk to a function that makes an argument from the context
    KINDS        further kinds of calls: a function that takes context, call, tensors and progress,
                 and returns an Answer; see `run_kind`

Nothing here knows a correct answer.
"""

import builtins
import contextlib
import dataclasses
import functools
import json
import random
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from tensormark.worker import values
from tensormark.worker.exceptions import message_of
from tensormark.worker.forbidden import as_own
from tensormark.worker.imports import Imports
from tensormark.worker.objects import (
    Originals,
    add_left_out,
    has_modules,
    load_by_name,
    member,
    parameters_of,
    parents_of,
)
from tensormark.worker.optional_torch import Tensor, TorchFunctionMode, nn, no_grad, torch
from tensormark.worker.outputs import StudentError, checked, description, gradients, outputs_of
from tensormark.worker.protocol import AGAIN, NEW_WEIGHTS
from tensormark.worker.stand_ins import (
    COMPARED,
    FUNCTION,
    MATCHED,
    accepts,
    call_with_forms,
    functions_replaced,
    replace_method,
    takes_apart,
)
from tensormark.worker.state import Model, Snapshot, put_back, seed
from tensormark.worker.tape import TapeRecorder, recording

Call = Mapping[str, Any]  # its JSON; see `Call` in tensormark/exercise.py
Array = Any  # a tensor of torch's, or an array of numpy's
Tensors = Mapping[str, Array]
Progress = Callable[[int, int], None]  # takes the steps done and their total
REPEATS = 9  # of a call that draws though nothing is dropped
GENERATORS = {"*generator", "*random"}  # arguments that provide random numbers

BUILT_IN = ("method", "function", "optimizer")

# --- what draws random numbers ----------------------------------------------------------------


class Draws(TorchFunctionMode):
    """Notes which of torch's functions draw random numbers in a `with` block.

    Attributes:
        names: of these functions, but not of those that they call; and NEW_WEIGHTS.
    """

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        """Call a function."""
        before = torch.get_rng_state()
        result = function(*args, **(kwargs or {}))
        if not torch.equal(before, torch.get_rng_state()):
            self.names.add(function.__name__)
        return result


def repeated(call: Callable[[], Tensors], first: Tensors) -> dict[str, Any]:
    """Repeat a call that drew random numbers.

    Args:
        first: what it returned.

    Returns: for the answer, what draws in it or creates weights, if it does not return the same.
    """
    second: Tensors = {}
    draws = Draws()
    with contextlib.ExitStack() as watched, contextlib.suppress(Exception):
        if torch:
            register = nn.modules.module.register_module_parameter_registration_hook
            watched.callback(register(lambda *_: draws.names.add(NEW_WEIGHTS)).remove)
        watched.enter_context(draws)
        second = call()
    return {} if _same(first, second) else {"causes": sorted(draws.names)}


def undropped(model: Model | None) -> bool:
    """Return whether no module of a model drops anything."""
    parts = model.owner.modules() if model is not None else ()
    rates = [getattr(part, "p", 0.0) for part in parts]  # or whatever else is called p
    return not any(rate for rate in rates if isinstance(rate, int | float))


def another(call: Callable[[], dict[str, Array]], first: dict[str, Array]) -> dict[str, Array]:
    """Repeat a call that drew random numbers; return a result that differs from the first, if any.

    So an output that is random without dropout differs from the right one, even if the first draw
    does not.
    """
    for _ in range(REPEATS):
        result = call()
        if not _same(first, result):
            return result
    return first


def _same(first: Tensors, second: Tensors) -> bool:
    return first.keys() == second.keys() and all(_equal(first[n], second[n]) for n in first)


def _equal(array: Array, other: Array) -> bool:
    if isinstance(array, np.ndarray):
        return np.array_equal(array, other, equal_nan=array.dtype.kind == "f")
    return bool(torch.equal(array.nan_to_num(), other.nan_to_num()))


# --- calls ------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Answer:
    """The result of a call: a small JSON object and tensors."""

    message: dict[str, Any]
    tensors: dict[str, Array] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Context:
    """The environment of a call.

    Attributes:
        imports: the submission's modules and the given ones.
        checkpoint: the folder of the frozen checkpoint.
        harness: the assignment's module; see above.
        originals: the given classes.
        tape: records the call, if that was asked for.
    """

    imports: Imports
    checkpoint: str
    harness: Any
    originals: Originals
    tape: TapeRecorder | None = None

    def module(self, name: str) -> ModuleType:
        """Return a module of the submission; import it if it is not imported yet."""
        return self.imports.module(name)


# --- one call -------------------------------------------------------------------------------


def below(tensors: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return the tensors or values whose names have a prefix, without it."""
    return {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}


def _used_paths(call: Call, weights: Tensors) -> set[str]:
    """Return the paths of the modules of its object that a call names."""
    methods = {path for path in call["stand_ins"] if FUNCTION not in path}
    owners = {name.rpartition(".")[0] for name in weights.keys() | methods}
    given = {name[1:] for name in call["args"] if name.startswith(".")}
    return (owners | given | set(call["rates"])) - {""}


def _adjust(owner: nn.Module, call: Call, stand_ins: Mapping[str, Callable[..., Any]]) -> None:
    """Set the rates of an object's dropout, and replace its methods."""
    for path, rate in call["rates"].items():
        for parent, last in parents_of(owner, path):
            member(parent, last, "dropout module").p = rate
    for path, kind in call["stand_ins"].items():
        if FUNCTION in path:  # see functions_replaced
            continue
        for parent, last in parents_of(owner, path):
            if replace_method(parent, last, stand_ins[kind]):
                MATCHED.add(path)


def _built(context: Context, call: Call, tensors: Tensors, complete: bool) -> Model:
    """Construct the object whose method is called, with its weights, mode, rates and stand-ins.

    Args:
        complete: use the given modules that the object lacks, perhaps because they have other
            names; see objects.py. Otherwise, it must lack none.
    """
    harness = context.harness
    make = getattr(harness, "constructor_arguments", None)
    arguments = make(context, call) if make is not None else ()
    if call["checkpoint"]:
        weights = harness.checkpoint_weights(context)
    else:
        weights = below(tensors, "weights/")
    name = call["target"].split(".")[0]
    cls = member(context.module(call["module"]), name, "class")
    owner: nn.Module = as_own(cls)(*arguments, **call["options"])
    lacking: dict[str, nn.Module] = {}
    if complete and not has_modules(owner, _used_paths(call, weights)):
        lacking = context.originals.complete(
            owner, call["module"], name, lambda given: given(*arguments, **call["options"])
        )
    stood_in = {path.rpartition(".")[0] for path in call["stand_ins"]} - {""}
    left_out = add_left_out(owner, weights, stood_in)
    load_by_name(owner, {n: w for n, w in weights.items() if n not in left_out}, lacking)
    for part in (owner, *lacking.values()):
        if call["dtype"] != "float32":  # the type of a new object
            part.to(getattr(torch, call["dtype"]))
        part.train(call["train"])
    _adjust(owner, call, getattr(harness, "STAND_INS", {}))
    return Model(owner, arguments, lacking, left_out)


def build(context: Context, call: Call, tensors: Tensors) -> nn.Module:
    """Construct the object whose method is called, with its weights, mode, rates and stand-ins."""
    return _built(context, call, tensors, complete=False).owner


def _seed_of(call: Call, tensors: Tensors) -> int:
    """Return the seed of the generators that a call is given.

    Without torch, where no probe tries several, it depends on the inputs, so that none is usual.
    """
    if not _is_numpy(call):
        return 0
    given = [
        tensors[name] if name in tensors else call["literals"].get(name) for name in call["args"]
    ]
    return zlib.crc32(repr(given).encode())


def arguments_of(context: Context, call: Call, tensors: Tensors, owner: Any) -> Iterator[Any]:
    """Yield the arguments of a call: tensors, the owner's modules, generators, plain values."""
    number = call.get("seed", _seed_of(call, tensors))
    for name in call["args"]:
        if name in call["literals"]:
            yield call["literals"][name]
        elif name == "*generator" and _is_numpy(call):
            yield np.random.default_rng(number)
        elif name == "*generator":
            yield torch.Generator().manual_seed(number)
        elif name == "*random":
            yield random.Random(number)
        elif name.startswith("*"):
            yield context.harness.ARGUMENTS[name](context)
        elif name.startswith("."):
            yield member(owner, name[1:], "module")
        else:
            given = tensors[name]
            # so that an in-place change does not affect the leaf
            yield given.copy() if isinstance(given, np.ndarray) else given.clone()


@no_grad()
def _negate(weights: Sequence[Tensor]) -> None:
    for weight in weights:
        weight.neg_()


def call_before(
    context: Context, call: Call, tensors: Tensors, owner: Any, function: Callable[..., Any]
) -> None:
    """Call the function with the inputs before/<name>, if there are any.

    Whatever state this call leaves, on the object or elsewhere, must not affect the call that
    counts. That includes copies of the weights, as training changes weights: so they are negated.
    """
    earlier = below(tensors, "before/")
    plain = below(call["literals"], "before/")
    if not earlier and not plain:
        return
    args = call["before"] or call["args"]
    other = {**call, "args": args, "literals": {**call["literals"], **plain}}
    weights = list(owner.parameters()) if isinstance(owner, nn.Module) else []
    _negate(weights)
    try:
        function(*arguments_of(context, other, {**tensors, **earlier}, owner))
    finally:
        _negate(weights)


def leaves_of(call: Call, tensors: Tensors) -> dict[str, Tensor]:
    """Return the inputs of which a call's gradients are asked for."""
    names = [name for name in call["args"] if name in tensors and name not in call["constants"]]
    if not call["gradients"]:
        return {}
    return {n: tensors[n].requires_grad_() for n in names if tensors[n].is_floating_point()}


def _is_numpy(call: Call) -> bool:
    return call.get("arrays") == "numpy"


def _function_of(
    context: Context, call: Call, tensors: Tensors
) -> tuple[Callable[..., Any], Any, Model | None]:
    """Return what a call calls, and the object that it is a method of, also as a torch module."""
    if call["kind"] != "method":
        return member(context.module(call["module"]), call["target"], "function"), None, None
    name, method = call["target"].split(".")
    if _is_numpy(call):
        cls = member(context.module(call["module"]), name, "class")
        owner = as_own(cls)(**call["options"])
        return member(owner, method, "method"), owner, None
    model = _built(context, call, tensors, complete=True)
    return member(model.owner, method, "method"), model.owner, model


def _raised(function: Callable[[], Any], call: Call) -> dict[str, Array]:
    """Call a function that should raise an exception.

    Returns: whether it does, as the only output.

    Raises:
        Exception: it raises another one.
    """
    wanted = call["raises"]
    try:
        function()
    except Exception as error:
        own = getattr(builtins, wanted, None)  # a class of the student's own may have its name
        names = (each.__name__ for each in type(error).__mro__)
        if isinstance(error, own) if own else wanted in names:
            return {call["returns"][0]: np.array(True)}
        raise
    return {call["returns"][0]: np.array(False)}


def run_call(context: Context, call: Call, tensors: Tensors) -> Answer:
    """Call a method of a newly built object, or a function.

    Returns:
        Tensors out/<name> (the outputs), after/<input> (the inputs after the call) and, if
        requested, grad/<input or weights/parameter>; the state before and after.
    """
    function, owner, model = _function_of(context, call, tensors)
    count = len(call["args"]) - len(call["optional"])  # of arguments that are not passed by name
    if call["optional"] and not accepts(function, count, call["optional"]):
        return Answer({"changed": [], "lacks": True})
    leaves = leaves_of(call, tensors)
    function = as_own(function)
    wanted = call
    if call["taken_by"] and takes_apart(context.module(call["module"]), call["taken_by"]) is False:
        wanted = {**call, "form": "tensor"}  # a tuple that no caller unpacks

    def called_with(arguments: Sequence[Any]) -> dict[str, Array]:
        named = dict(zip(call["optional"], arguments[count:], strict=True))
        made = functools.partial(function, *arguments[:count], **named)
        return _raised(made, call) if call.get("raises") else outputs_of(made(), wanted)

    arguments = list(arguments_of(context, call, tensors, owner))
    own_generator = not GENERATORS.isdisjoint(call["args"])
    before = Snapshot(model, call, silent=own_generator)
    call_before(context, call, tensors, owner, function)
    given = [value for value in arguments if isinstance(value, Tensor | np.ndarray)]
    with recording(context.tape, before, given):
        own = called_with(arguments)
    report = before.report()
    report["lacking_parts"] = model.lacking_parts[:1] if model is not None else []  # one is told
    drew = before.generators.used if _is_numpy(call) else before.generators.drew
    report["drew"] = own_generator or drew()

    if report["drew"] and call["train"] and not own_generator and undropped(model):
        own = another(lambda: called_with(list(arguments_of(context, call, tensors, owner))), own)

    answer = {f"out/{name}": value for name, value in own.items()}
    if call["twice"]:
        again = called_with(list(arguments_of(context, call, tensors, owner)))
        answer |= {f"out/{name}{AGAIN}": value for name, value in again.items()}
    after = zip(call["args"], arguments, strict=True)
    answer |= {f"after/{name}": value for name, value in after if name in tensors}
    if call["gradients"]:
        weights = parameters_of(model.owner, model.lacking) if model is not None else {}
        leaves |= {f"weights/{name}": p for name, p in weights.items() if p.requires_grad}
        try:
            grads = gradients(own, leaves, below(tensors, "cotangent/"))
            answer |= {f"grad/{name}": value for name, value in grads.items()}
        except RuntimeError as error:  # such as for a value that was changed in place
            report["backward"] = message_of(error)
    if report.get("drew") and not own_generator and not call["train"]:
        more = list(arguments_of(context, call, tensors, owner))
        report |= repeated(lambda: called_with(more), own)
    return Answer(report, answer)


def run_optimizer(context: Context, call: Call, tensors: Tensors) -> Answer:
    """Let an optimizer take steps with given gradients.

    Args:
        tensors: start/<name>, a parameter; gradients/<name>, (steps, *its shape), or none.

    Returns:
        Tensors out/<name>, (steps, *its shape): the parameter after each step; and
        after/gradients/<name>, the gradients after the steps.
    """
    cls = member(context.module(call["module"]), call["target"].split(".")[0], "class")
    own: dict[str, Tensor] = {}
    groups = []
    for group in call["literals"]["groups"]:
        names = group["params"]
        own |= {name: tensors[f"start/{name}"].clone().requires_grad_() for name in names}
        groups.append({**group, "params": [own[name] for name in names]})
    optimizer = as_own(cls)(groups)
    gradients = {n: tensors[f"gradients/{n}"].clone() for n in own if f"gradients/{n}" in tensors}
    before = Snapshot(None)
    after_steps: dict[str, list[Tensor]] = {name: [] for name in own}
    with recording(context.tape, before, gradients.values()):
        for step in range(call["literals"]["steps"]):
            for name, values in gradients.items():
                own[name].grad = values[step]
            optimizer.step()
            for name, parameter in own.items():
                after_steps[name].append(parameter.detach().clone())
    answer = {f"out/{name}": torch.stack(values) for name, values in after_steps.items()}
    answer |= {f"after/gradients/{name}": values for name, values in gradients.items()}
    return Answer({**before.report(), "drew": False}, answer)


def as_answer(answer: Any, call: Call) -> Answer:
    """Return what one of the assignment's own kinds has returned.

    Raises:
        StudentError: it is not an answer, or its outputs cannot be sent.
    """
    if not isinstance(answer, Answer):
        raise StudentError(
            f"{call['kind']!r} of KINDS returns {description(answer)}; expected an Answer"
        )
    made = below(answer.tensors, "out/")
    if call.get("form") == "value":
        return answer
    own = {n: x for n, x in made.items() if _is_numpy(call) or not isinstance(x, np.ndarray)}
    sent = {f"out/{name}": array for name, array in checked(own, call).items()}
    return dataclasses.replace(answer, tensors=answer.tensors | sent)


def run_kind(
    kind: Callable[..., Answer], context: Context, call: Call, tensors: Tensors, progress: Progress
) -> Answer:
    """Run one of the assignment's own kinds for a probe, watched like other calls.

    It answers with out/<name> for each of the call's `returns` and, if requested, grad/<input>.
    Inputs named by the call's `args` must not change; the objects that it builds are not watched.
    """
    before = Snapshot(None, call)
    given = [tensors[name] for name in call["args"] if name in tensors]
    with recording(context.tape, before, given):
        answer = as_answer(kind(context, call, tensors, progress), call)
    report = {**before.report(), "drew": before.generators.drew()}
    after = {f"after/{name}": tensors[name] for name in call["args"] if name in tensors}
    return Answer({**report, **answer.message}, {**after, **answer.tensors})


def _given(arrays: Mapping[str, np.ndarray], call: Call, dtype: str = "") -> Tensors:
    """Return arrays as a call gets them, floating point ones perhaps in another type."""
    if dtype:
        arrays = {n: a.astype(dtype) if a.dtype.kind == "f" else a for n, a in arrays.items()}
    if _is_numpy(call):
        return arrays
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def run(
    context: Context, call: Call, arrays: Mapping[str, np.ndarray], progress: Progress
) -> Answer:
    """Run a call of any kind, in a state that does not depend on earlier calls.

    Args:
        call: unless its `observe` is false, functions that stand-ins replace may be called to
            learn the form of their results. If its `compare` is true, these are right, and
            stand-ins must return tensors like theirs.
    """
    call = dict(call)  # without these two: its seed depends only on what was recorded
    observe = call.pop("observe", True)
    COMPARED.set(call.pop("compare", False))
    put_back(context.imports.settings)
    kind = getattr(context.harness, "KINDS", {}).get(call["kind"])
    if kind is None and call["kind"] not in BUILT_IN:
        raise StudentError(f"there is no {call['kind']!r} in KINDS of the harness")
    if kind is not None and "dtype" not in call:  # a task's request, with fields of its own
        return as_answer(kind(context, call, _given(arrays, call), progress), call)
    module = context.module(call["module"])  # may draw or seed
    tensors = _given(arrays, call, call["dtype"])
    number = zlib.crc32(json.dumps(call, sort_keys=True).encode())
    call["literals"] = values.decoded(call["literals"])

    def run_seeded() -> Answer:
        """Run it with stand-ins for functions, from a seed that depends only on the call."""
        seed(number)
        MATCHED.clear()
        with functions_replaced(call["stand_ins"], context.module, context.harness):
            if kind is not None:
                return run_kind(kind, context, call, tensors, progress)
            if call["kind"] == "optimizer":
                return run_optimizer(context, call, tensors)
            return run_call(context, call, tensors)

    unpacks = observe and call["stand_ins"] and takes_apart(module, call["target"])
    answer = call_with_forms(run_seeded, bool(unpacks), observe)
    answer.message["matched"] = sorted(MATCHED)
    answer.message["imported"] = context.imports.changed[call["module"]]
    return answer


# --- further kinds of calls, which an assignment's harness may add to its KINDS ---------------


def steps_across(context: Context, call: Call, tensors: Tensors, progress: Progress) -> Answer:
    """Let an optimizer take steps with parameters whose memory layout is that of a transpose."""
    across = {n: t.mT.contiguous().mT if t.dim() == 2 else t for n, t in tensors.items()}
    return run_optimizer(context, call, across)


def draws(context: Context, call: Call, tensors: Tensors, progress: Progress) -> Answer:
    """Call a function with each seed, and once more with the last generators, as they were left.

    Args:
        tensors: the inputs of the call, and `seeds`; see toolkit/seeds.py.

    Returns:
        out/<number of the call>/<name>, and out/used/<name>.
    """
    function = member(context.module(call["module"]), call["target"], "function")
    answer: dict[str, Tensor] = {}

    def arguments(seed: int) -> list[Any]:
        return list(arguments_of(context, {**call, "seed": seed}, tensors, None))

    def add(number: int | str, args: list[Any]) -> None:
        outputs = outputs_of(function(*args), call)
        answer.update({f"out/{number}/{name}": value for name, value in outputs.items()})

    last = 0
    args: list[Any] = []
    for number, last in enumerate(tensors["seeds"].tolist()):
        args = arguments(last)
        add(number, args)
    generators = torch.Generator, random.Random
    fresh = zip(args, arguments(last), strict=True)
    add("used", [used if isinstance(used, generators) else other for used, other in fresh])
    return Answer({}, answer)
