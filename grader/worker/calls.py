"""Call a student's function as described by a call, and return tensors. Runs in the worker.

There are three kinds of calls (see `Call` in grader/exercise.py): a method of an object that is
built with weights, a function, and the steps of an optimizer. An assignment adds its own kinds in
its harness, a module with these names:

    constructor_arguments(context, call)   the arguments of every constructor
    checkpoint_weights(context)            the frozen checkpoint's weights by parameter
    STAND_INS    name to a function of the object that makes a stand-in for a part of it
    ARGUMENTS    name with an asterisk to a function of the context that makes an argument
    KINDS        further kinds of calls: function of context, call, tensors and progress

Nothing here knows a correct answer.
"""

import dataclasses
import functools
import importlib
import random
import traceback
import zlib
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from grader.worker.outputs import StudentError, outputs_of

DTYPES = {"float32": torch.float32, "float64": torch.float64}
GENERATORS = {"*generator", "*random"}  # arguments that provide random numbers
MAX_TEXT = 300  # characters of an exception's message that are passed on
Progress = Callable[[int, int], None]  # takes the steps done and their total


@dataclasses.dataclass(frozen=True)
class Answer:
    """The result of a call: a small JSON object and tensors."""

    message: dict[str, Any]
    tensors: dict[str, Tensor] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Context:
    """What a call runs with.

    Attributes:
        modules: name to module, of the imported submission and given files.
        checkpoint: the folder of the frozen checkpoint.
        harness: the assignment's module; see above.
    """

    modules: Mapping[str, ModuleType]
    checkpoint: str
    harness: Any

    def module(self, name: str) -> ModuleType:
        """Return a module of the submission; import it if it is not imported yet."""
        return self.modules.get(name) or importlib.import_module(name)


# --- one call -------------------------------------------------------------------------------


def member(owner: Any, name: str, kind: str) -> Any:
    """Return an attribute of the student's module or object, or report that it is missing."""
    try:
        return getattr(owner, name)
    except AttributeError:
        called = getattr(owner, "__name__", type(owner).__name__)
        called = f"{called}.py" if isinstance(owner, ModuleType) else called
        raise StudentError(f"{called} has no {kind} {name}; its names are fixed") from None


def load_by_name(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copy weights into the parameters of these names; other parameters are unchanged."""
    own = dict(model.named_parameters())
    for name, value in sorted(weights.items()):
        if name not in own:
            raise StudentError(
                f"{type(model).__name__} has no parameter {name}; its names are fixed"
            )
        if own[name].shape != value.shape:
            shapes = f"{tuple(own[name].shape)} and should be {tuple(value.shape)}"
            raise StudentError(f"parameter {name} of {type(model).__name__} is {shapes}")
        with torch.no_grad():
            own[name].copy_(value)


def build(context: Context, call: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> nn.Module:
    """Construct the object whose method is called, with its weights, mode, rates and stand-ins."""
    harness = context.harness
    arguments = harness.constructor_arguments(context, call)
    if call["checkpoint"]:
        weights = harness.checkpoint_weights(context)
    else:
        prefix = "weights/"
        weights = {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}
    made = member(context.module(call["module"]), call["target"].split(".")[0], "class")
    owner: nn.Module = made(*arguments, **call["options"])
    load_by_name(owner, weights)
    if call["dtype"] != "float32":  # the type it was built in
        owner.to(DTYPES[call["dtype"]])
    owner.train(call["train"])
    for name, rate in call["rates"].items():
        *path, last = name.split(".")
        parent = functools.reduce(lambda made, part: member(made, part, "module"), path, owner)
        member(parent, last, "dropout module").p = rate
    for attribute, kind in call["stand_ins"].items():
        owner._modules.pop(attribute, None)
        setattr(owner, attribute, harness.STAND_INS[kind](owner))
    return owner


def gradients(
    outputs: Mapping[str, Tensor], leaves: Mapping[str, Tensor], cotangents: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Return the gradient of sum(output * cotangent) for every leaf that has one."""
    usable = [
        (value * cotangents[name]).sum()
        for name, value in outputs.items()
        if value.requires_grad and value.shape == cotangents[name].shape
    ]
    if not usable:
        return {}
    found = torch.autograd.grad(torch.stack(usable).sum(), list(leaves.values()), allow_unused=True)
    return {name: g for name, g in zip(leaves, found, strict=True) if g is not None}


def state(owner: nn.Module | None, random_too: bool = False) -> dict[str, Any]:
    """Return the state that a function must not change; with its own generator, more of it."""
    found = {
        "the default dtype": str(torch.get_default_dtype()),
        "the gradient mode": torch.is_grad_enabled(),
        "the number of threads": torch.get_num_threads(),
        "the random seed": torch.initial_seed(),
    }
    if owner is not None:
        weights = [p.detach().flatten() for p in owner.parameters()]
        total = float(torch.cat([torch.zeros(0), *weights]).sum())
        found["the model's training mode"] = owner.training
        found["the model's weights"] = str(total)  # as text, NaN equals NaN
    if random_too:
        states = torch.get_rng_state().numpy().tobytes() + repr(random.getstate()).encode()
        found["the global random generators"] = zlib.crc32(states)
    return found


def arguments_of(
    context: Context, call: Mapping[str, Any], tensors: Mapping[str, Tensor], owner: Any
) -> Iterator[Any]:
    """Yield the arguments of a call: tensors, the owner's modules, generators, plain values."""
    seed = call.get("seed", 0)
    for name in call["args"]:
        if name in call["literals"]:
            yield call["literals"][name]
        elif name == "*generator":
            yield torch.Generator().manual_seed(seed)
        elif name == "*random":
            yield random.Random(seed)
        elif name.startswith("*"):
            yield context.harness.ARGUMENTS[name](context)
        elif name.startswith("."):
            yield member(owner, name[1:], "module")
        else:
            yield tensors[name].clone()  # so that an in-place change does not affect the leaf


def call_before(
    context: Context,
    call: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    owner: Any,
    called: Callable[..., Any],
) -> None:
    """Call the function with the inputs before/<name>, if there are any.

    What it keeps of them, on its object or elsewhere, must not show in the call that counts.
    """
    prefix = "before/"
    earlier = {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}
    if earlier:
        called(*arguments_of(context, call, {**tensors, **earlier}, owner))


def run_call(context: Context, call: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Answer:
    """Call a method of a newly built object, or a function.

    Returns:
        Tensors out/<name> (the outputs), after/<input> (the inputs after the call) and, if
        requested, grad/<input or weights/parameter>; the state before and after.
    """
    owner = None
    if call["kind"] == "method":
        owner = build(context, call, tensors)
        called = member(owner, call["target"].split(".")[1], "method")
    else:
        called = member(context.module(call["module"]), call["target"], "function")
    leaves = {}
    for name in call["args"] if call["gradients"] else ():
        constant = name in call["constants"]
        if name in tensors and tensors[name].is_floating_point() and not constant:
            leaves[name] = tensors[name].requires_grad_()
    passed = list(arguments_of(context, call, tensors, owner))
    own_generator = not GENERATORS.isdisjoint(call["args"])
    before, generator = state(owner, own_generator), torch.get_rng_state()
    call_before(context, call, tensors, owner, called)
    outputs = outputs_of(called(*passed), call)
    after = state(owner, own_generator)
    drew = own_generator or not torch.equal(generator, torch.get_rng_state())

    answer = {f"out/{name}": value for name, value in outputs.items()}
    sent = zip(call["args"], passed, strict=True)
    answer |= {f"after/{name}": value for name, value in sent if isinstance(value, Tensor)}
    if call["gradients"]:
        weights = owner.named_parameters() if owner is not None else ()
        leaves |= {f"weights/{name}": p for name, p in weights}
        cotangents = {name: tensors[f"cotangent/{name}"] for name in outputs}
        found = gradients(outputs, leaves, cotangents)
        answer |= {f"grad/{name}": value for name, value in found.items()}
    return Answer({"before": before, "after": after, "drew": drew}, answer)


def run_optimizer(
    context: Context, call: Mapping[str, Any], tensors: Mapping[str, Tensor]
) -> Answer:
    """Let an optimizer take steps with given gradients.

    Args:
        tensors: start/<name>, a parameter; gradients/<name>, (steps, *its shape), or none.

    Returns:
        Tensors out/<name>, (steps, *its shape): the parameter after each step; and
        after/gradients/<name>, the gradients after the steps.
    """
    made = member(context.module(call["module"]), call["target"].split(".")[0], "class")
    groups = call["literals"]["groups"]
    own = {n: tensors[f"start/{n}"].clone().requires_grad_() for g in groups for n in g["params"]}
    optimizer = made([{**g, "params": [own[name] for name in g["params"]]} for g in groups])
    gradients = {n: tensors[f"gradients/{n}"].clone() for n in own if f"gradients/{n}" in tensors}
    before = state(None)
    after_steps: dict[str, list[Tensor]] = {name: [] for name in own}
    for step in range(call["literals"]["steps"]):
        for name, values in gradients.items():
            own[name].grad = values[step]
        optimizer.step()
        for name, parameter in own.items():
            after_steps[name].append(parameter.detach().clone())
    answer = {f"out/{name}": torch.stack(values) for name, values in after_steps.items()}
    answer |= {f"after/gradients/{name}": values for name, values in gradients.items()}
    return Answer({"before": before, "after": state(None), "drew": False}, answer)


def run(
    context: Context, call: Mapping[str, Any], tensors: Mapping[str, Tensor], progress: Progress
) -> Answer:
    """Run a call of any kind."""
    torch.set_grad_enabled(True)  # an earlier call may have changed these
    torch.set_default_dtype(torch.float32)
    if call["kind"] in context.harness.KINDS:
        answer: Answer = context.harness.KINDS[call["kind"]](context, call, tensors, progress)
        return answer
    torch.default_generator.manual_seed(call.get("seed", 0))  # torch.manual_seed is far slower
    random.seed(call.get("seed", 0))
    dtype = DTYPES[call["dtype"]]
    tensors = {n: t.to(dtype) if t.is_floating_point() else t for n, t in tensors.items()}
    if call["kind"] == "optimizer":
        return run_optimizer(context, call, tensors)
    return run_call(context, call, tensors)


def describe(error: BaseException, files: Mapping[str, str]) -> dict[str, Any]:
    """Describe what a student's code raised, and on which of its lines."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename in files]
    where = f" ({own[-1].filename}, line {own[-1].lineno})" if own else ""
    if isinstance(error, StudentError):
        return {"status": "error", "text": str(error)}
    text = str(error).strip().split("\n")[0][:MAX_TEXT]
    if isinstance(error, NotImplementedError):
        function = own[-1].name if own and frames[-1] is own[-1] else ""
        return {"status": "not written", "text": text, "function": function, "where": where}
    return {"status": "error", "text": f"raised {type(error).__name__}: {text}{where}"}
