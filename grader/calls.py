"""Call a student's function as the case table says, and hand back tensors. Runs in the worker.

Nothing here knows a right answer. The stand-ins that play the part of upstream exercises are smooth
functions made up for the purpose: they let through everything that the function on trial decides
(which tensors, which modules, which mask, which order) and are none of the exercises' solutions.

Dimension key: B batch, T tokens, D model width.
"""

import dataclasses
import functools
import itertools
import traceback
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

DTYPES = {"float32": torch.float32, "float64": torch.float64}
# What numpy has a type for, and safetensors too.
SENDABLE = {torch.float16, torch.float32, torch.float64, torch.int32, torch.int64, torch.bool}
EVAL_ON_CHECKPOINT: dict[str, Any] = {
    "target": "BertModel",
    "checkpoint": True,
    "train": False,
    "dtype": "float32",
    "rates": {},
    "stand_ins": {},
}
MAX_TEXT = 300  # characters of an exception's message that are passed on


class StudentError(Exception):
    """Something about the submission that stops a call; the message is for the student."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a call came to: a small JSON object and tensors."""

    message: dict[str, Any]
    tensors: dict[str, Tensor] = dataclasses.field(default_factory=dict)


# --- stand-ins for what is upstream ---------------------------------------------------------


def seen(attention_mask: Tensor, like: Tensor) -> Tensor:
    """Return (B, T): the share of heads and tokens that may look at each token."""
    B, T = like.shape[:2]
    visible = (attention_mask > -5000).to(like.dtype)  # any large negative number hides
    return visible.expand(B, -1, -1, T).mean((1, 2))


class AttentionStandIn(nn.Module):
    """Takes the place of a BertSelfAttention: mixes neighbours, feels the mask."""

    def forward(self, hidden_states: Tensor, attention_mask: Tensor) -> Tensor:
        """(B, T, D) and the additive mask in, (B, T, D) out."""
        weight = seen(attention_mask, hidden_states)[..., None]
        return torch.sin(hidden_states) + weight * torch.roll(hidden_states, 1, dims=1)


class OnesStandIn(nn.Module):
    """Takes the place of a BertSelfAttention whose values are all ones."""

    def forward(self, hidden_states: Tensor, attention_mask: Tensor) -> Tensor:
        """(B, T, D) and the additive mask in, ones (B, T, D) out."""
        return torch.ones_like(hidden_states)


class LayerStandIn(nn.Module):
    """Takes the place of the encoder layer with this number: order and count of layers matter."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def forward(self, hidden_states: Tensor, attention_mask: Tensor) -> Tensor:
        """(B, T, D) and the additive mask in, (B, T, D) out."""
        weight = seen(attention_mask, hidden_states)[..., None]
        moved = torch.roll(weight * hidden_states, 1, dims=1)  # what is hidden is not read
        return torch.sin(hidden_states + self.number + 1) + 0.5 * moved


def add_norm_stand_in(
    input: Tensor, output: Tensor, dense_layer: Any, dropout: Any, ln_layer: Any
) -> Tensor:
    """Take the place of add_norm: every argument leaves its mark."""
    scale: Tensor = ln_layer.weight + getattr(dropout, "p", 0.0)
    return torch.cos(input) * scale + torch.tanh(dense_layer(output)) - 0.5 * input


def put_stand_in(owner: Any, attribute: str, kind: str) -> None:
    """Replace a part of `owner` by the stand-in of that kind."""
    made: dict[str, Callable[[], Any]] = {
        "attention": AttentionStandIn,
        "ones": OnesStandIn,
        "add_norm": lambda: add_norm_stand_in,
        "layers": lambda: nn.ModuleList(
            LayerStandIn(number) for number in range(owner.config.num_hidden_layers)
        ),
        "embed": lambda: lambda ids, *_: torch.tanh(owner.word_embedding(ids)),
    }
    owner._modules.pop(attribute, None)
    setattr(owner, attribute, made[kind]())


# --- one call -------------------------------------------------------------------------------


def member(owner: Any, name: str, kind: str) -> Any:
    """Return an attribute of the student's module or object, or say that it is missing."""
    try:
        return getattr(owner, name)
    except AttributeError:
        called = getattr(owner, "__name__", type(owner).__name__)
        called = f"{called}.py" if isinstance(owner, ModuleType) else called
        raise StudentError(f"{called} has no {kind} {name}; its names are fixed") from None


def load_by_name(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copy weights into the parameters of these names; other parameters stay as they are."""
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


def build(
    modules: Mapping[str, ModuleType],
    call: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    checkpoint: str,
) -> nn.Module:
    """Construct the object whose method is called, with its weights, mode, rates and stand-ins."""
    config_class = modules["config"].BertConfig
    if call["checkpoint"]:
        config = config_class.from_json(checkpoint)
        weights = modules["base_bert"].load_weights(f"{checkpoint}/model.safetensors")
    else:
        config = config_class(**call["config"])
        prefix = "weights/"
        weights = {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}
    owner: nn.Module = member(modules["bert"], call["target"].split(".")[0], "class")(config)
    load_by_name(owner, weights)
    owner.to(DTYPES[call["dtype"]]).train(call["train"])
    for name, rate in call["rates"].items():
        *path, last = name.split(".")
        parent = functools.reduce(lambda made, part: member(made, part, "module"), path, owner)
        member(parent, last, "dropout module").p = rate
    for attribute, kind in call["stand_ins"].items():
        put_stand_in(owner, attribute, kind)
    return owner


def outputs_of(result: Any, expected: str) -> dict[str, Tensor]:
    """Name the tensors that a function returned.

    Optional extras are let pass: further keys of a dict, further elements of a tuple.

    Raises:
        StudentError: it returned something else.
    """
    if expected == "BertModel.forward":
        names = ("last_hidden_state", "pooler_output")
        if not isinstance(result, Mapping) or not all(name in result for name in names):
            raise StudentError(
                f"{expected} should return a dict with the keys {' and '.join(names)}"
            )
        outputs = {name: result[name] for name in names}
    else:
        first = result[0] if isinstance(result, tuple) and result else result
        outputs = {"output": first}
    for value in outputs.values():
        if not isinstance(value, Tensor):
            what = "None" if value is None else f"a {type(value).__name__}"
            raise StudentError(f"{expected} should return a tensor, got {what}")
        if value.device.type != "cpu":
            raise StudentError(
                f"{expected} returned a tensor on {value.device}, its input is on cpu"
            )
        if value.dtype not in SENDABLE:
            raise StudentError(f"{expected} returned a tensor of type {value.dtype}")
    return outputs


def gradients(
    outputs: Mapping[str, Tensor], leaves: Mapping[str, Tensor], cotangents: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Return the gradient of sum(output * cotangent) for every leaf that it reaches."""
    usable = [
        (value * cotangents[name]).sum()
        for name, value in outputs.items()
        if value.requires_grad and value.shape == cotangents[name].shape
    ]
    if not usable:
        return {}
    found = torch.autograd.grad(torch.stack(usable).sum(), list(leaves.values()), allow_unused=True)
    return {name: g for name, g in zip(leaves, found, strict=True) if g is not None}


def state(owner: nn.Module) -> dict[str, Any]:
    """Return what a function must leave as it found it."""
    return {
        "the default dtype": str(torch.get_default_dtype()),
        "the gradient mode": torch.is_grad_enabled(),
        "the number of threads": torch.get_num_threads(),
        "the random seed": torch.initial_seed(),
        "the model's training mode": owner.training,
        "the model's weights": str(float(sum(p.detach().sum() for p in owner.parameters()))),
    }


def run_method(
    modules: Mapping[str, ModuleType],
    call: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    checkpoint: str,
) -> Answer:
    """Carry out one call.

    Returns:
        Tensors out/<name> (what was returned), after/<input> (the inputs as the call left them)
        and, where asked for, grad/<input or weights/parameter>; the state before and after.
    """
    torch.default_generator.manual_seed(call.get("seed", 0))  # torch.manual_seed is far slower
    dtype = DTYPES[call["dtype"]]
    tensors = {n: t.to(dtype) if t.is_floating_point() else t for n, t in tensors.items()}
    owner = build(modules, call, tensors, checkpoint)
    method = member(owner, call["target"].split(".")[1], "method")

    leaves, passed = {}, []
    for name in call["args"]:
        if name.startswith("."):
            passed.append(member(owner, name[1:], "module"))
            continue
        leaf = tensors[name]
        if call["gradients"] and leaf.is_floating_point() and name != "attention_mask":
            leaves[name] = leaf.requires_grad_()
        passed.append(leaf.clone())  # what the student may change by mistake is not the leaf
    before, random = state(owner), torch.get_rng_state()
    outputs = outputs_of(method(*passed), call["target"])
    after, drew = state(owner), not torch.equal(random, torch.get_rng_state())

    answer = {f"out/{name}": value for name, value in outputs.items()}
    named = zip(call["args"], passed, strict=True)
    answer |= {f"after/{name}": value for name, value in named if isinstance(value, Tensor)}
    if call["gradients"]:
        leaves |= {f"weights/{name}": p for name, p in owner.named_parameters()}
        cotangents = {name: tensors[f"cotangent/{name}"] for name in outputs}
        found = gradients(outputs, leaves, cotangents)
        answer |= {f"grad/{name}": value for name, value in found.items()}
    return Answer({"before": before, "after": after, "drew": drew}, answer)


def fine_tune(
    modules: Mapping[str, ModuleType],
    call: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    checkpoint: str,
    progress: Callable[[int, int], None],
) -> Answer:
    """Fine-tune the given classifier on the student's model and predict sentences without labels.

    Returns:
        out/predictions: (N,) int64, for call["predict"] in its order.
    """
    classifier = modules["classifier"]
    torch.manual_seed(call["seed"])  # draws the weights of the new layer
    bert: Any = build(modules, {**call, **EVAL_ON_CHECKPOINT}, tensors, checkpoint)
    model = classifier.BertSentimentClassifier(bert, call["num_labels"])
    tokenizer = modules["tokenizer"].BertTokenizer.from_pretrained(checkpoint)
    length = bert.config.max_position_embeddings
    train, predict = (tokenizer(call[part], max_length=length) for part in ("train", "predict"))
    recipe = classifier.Recipe(seed=call["seed"])
    steps, total = itertools.count(1), recipe.steps(len(call["train"]))
    ids_and_mask = train["input_ids"], train["attention_mask"]

    def on_step(loss: float) -> None:
        progress(next(steps), total)

    classifier.fine_tune(model, *ids_and_mask, tensors["labels"], recipe, on_step)
    predictions = classifier.predict(model, predict["input_ids"], predict["attention_mask"])
    return Answer({}, {"out/predictions": predictions})


def run(
    modules: Mapping[str, ModuleType],
    call: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    checkpoint: str,
    progress: Callable[[int, int], None],
) -> Answer:
    """Carry out a call of either kind; `progress` is told the steps done and their number."""
    torch.set_grad_enabled(True)  # what a call before this one has changed is not its fault
    torch.set_default_dtype(torch.float32)
    if call["kind"] == "fine-tune":
        return fine_tune(modules, call, tensors, checkpoint, progress)
    return run_method(modules, call, tensors, checkpoint)


def describe(error: BaseException, files: Mapping[str, str]) -> dict[str, Any]:
    """Say what a student's code raised, and at which of its lines."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename in files]
    where = f" ({own[-1].filename}, line {own[-1].lineno})" if own else ""
    if isinstance(error, StudentError):
        return {"status": "error", "text": str(error)}
    text = str(error).strip().split("\n")[0][:MAX_TEXT]
    if isinstance(error, NotImplementedError):
        return {"status": "not written", "text": text}
    return {"status": "error", "text": f"raised {type(error).__name__}: {text}{where}"}
