"""Follows one sentence through your model: what each of its parts gets and returns, in order.

Nothing is computed here. Modules have hooks, `attention` and the activation are wrapped, and scores
are what your attention passes to torch's softmax. Where a function is not written, or fails, a step
says so, and the parts that come after it are tried by themselves.

Dimension key: T tokens, D model width, H heads, d head width, F feed-forward width, C classes.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from bert import BertModel
from observe import Attention, probabilities
from sentences import InputError
from tokenizer import BertTokenizer
from training import explain_training
from typed import encode
from utils import get_extended_attention_mask
from verdict import class_name

MOST = 24  # tokens; more are too many numbers for a page
PADS = 2  # tokens of padding, so that there is something to mask
SOFTMAXES = (F.softmax, torch.softmax, Tensor.softmax)
BY_UNIT = ("sentence", "tokens", "units")
BY_HEAD = ("sentence", "heads", "tokens", "units of a head")
BY_CLASS = ("sentence", "classes")
BY_PAIR = ("sentence", "heads", "tokens that look", "tokens looked at")
SHARES = "probabilities"  # the step in which the page shows where a token looks
NEXT = {"embed": "encode", "encode": "layer", "layer": "attention"}  # what is tried by itself

EMBEDDING = {
    "word_embedding": ("words", "The row of the table of words that each id names."),
    "pos_embedding": ("positions", "A row for each place in the sentence, whatever stands there."),
    "tk_type_embedding": ("token types", "The same row for all, as there is no second sentence."),
}
LAYER = {
    "attention_dense": ("projected", "The heads of a token, mixed by a dense layer."),
    "attention_layer_norm": ("attention", "The sum of this and what came into the layer."),
    "interm_dense": ("widened", "A dense layer makes each token wider."),
    "interm_af": ("activated", "GELU lets what is positive pass, and little of the rest."),
    "out_dense": ("narrowed", "A dense layer brings each token back to the model's width."),
    "out_layer_norm": ("feed-forward", "The sum of this and what came out of attention."),
}


class Step(NamedTuple):
    """One tensor on the way; without a tensor, what the page says of a step that is not there.

    Attributes:
        part: of the model; title: of the step; says: what it is.
        axes: the tensor's, in words.
    """

    part: str
    title: str
    says: str
    tensor: Tensor | None = None
    axes: tuple[str, ...] = ()


class Walk(NamedTuple):
    """A sentence's tokens with padding, their ids, and the steps through the model."""

    tokens: list[str]
    ids: list[int]
    steps: list[Step]


class SoftmaxInputs(TorchFunctionMode):
    """Records what is passed to torch's softmax, under any of its names."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Tensor] = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        """Record, and call what was called."""
        named = kwargs or {}
        if func in SOFTMAXES:
            self.seen.append(args[0] if args else named["input"])
        return func(*args, **named)


class Recorder:
    """Keeps the steps, with copies of their tensors."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def add(self, part: str, title: str, says: str, tensor: object, axes: tuple[str, ...]) -> None:
        """Keep a step, if there is a tensor."""
        if isinstance(tensor, Tensor):
            self.steps.append(Step(part, title, says, tensor.detach().clone(), axes))

    def after(self, part: str, title: str, says: str, axes=BY_UNIT) -> Callable[..., None]:
        """Return a hook that keeps what a module returns; of a norm, also what it gets."""

        def hook(module: object, given: tuple, made: object) -> None:
            if isinstance(module, nn.LayerNorm):
                self.add(part, f"{title}, added up", says, given[0] if given else None, BY_UNIT)
                norm = "Each token alone: mean 0 and variance 1, then the norm's gain and bias."
                self.add(part, f"{title}, normalized", norm, made, BY_UNIT)
            else:
                self.add(part, title, says, made, axes)

        return hook

    def around(self, part: str, attention: Attention) -> Attention:
        """Return an attention that keeps what it gets, computes and returns."""

        def recorded(key: Tensor, query: Tensor, value: Tensor, attention_mask: Tensor) -> Tensor:
            parts = {"query": query, "key": key, "value": value}
            says = "Of each token, by a dense layer of its own, and split into heads."
            for title, tensor in parts.items():
                self.add(part, title, says, tensor, BY_HEAD)
            masks = "0 for a token and -10000 for padding: to be added to the scores."
            self.add(part, "mask", masks, attention_mask, BY_PAIR)
            with SoftmaxInputs() as softmax:
                context = attention(key, query, value, attention_mask)
            for scores in softmax.seen[:1]:
                says = "What your softmax gets: how well query and key agree, with the mask."
                self.add(part, "scores", says, scores, BY_PAIR)
            shares = probabilities(attention, key, query, attention_mask)
            says = "How much of the value of each token a token takes; a row sums to 1."
            self.add(part, SHARES, says, shares, BY_PAIR)
            says = "The values that each token took, in these shares, its heads side by side."
            self.add(part, "context", says, context, BY_UNIT)
            return context

        return recorded


def listen(owner: Any, name: str, hook: Callable[..., None]) -> Callable[[], object]:
    """Call a hook after a module or a function of `owner`; return what ends that."""
    found = getattr(owner, name, None)
    if isinstance(found, nn.Module):
        return found.register_forward_hook(hook).remove
    if not callable(found):
        return lambda: None

    def called(*given: Any, **named: Any) -> Any:
        made = found(*given, **named)
        hook(found, given, made)
        return made

    setattr(owner, name, called)
    return lambda: setattr(owner, name, found)


@contextlib.contextmanager
def recorded(model: BertModel, head: nn.Module | None) -> Iterator[Recorder]:
    """Record the steps while the model runs; afterwards it is as before."""
    recorder, layers = Recorder(), list(model.bert_layers)
    with contextlib.ExitStack() as end:

        def watch(owner: Any, name: str, *about: Any) -> None:
            end.callback(listen(owner, name, recorder.after(*about)))

        for name, about in EMBEDDING.items():
            watch(model, name, "embedding", *about)
        watch(model, "embed_layer_norm", "embedding", "the three", "The sum of the three.")
        for number, layer in enumerate(layers, start=1):
            attention = layer.self_attention
            attention.attention = recorder.around(f"layer {number}", attention.attention)
            end.callback(delattr, attention, "attention")
            for name, about in LAYER.items():
                watch(layer, name, f"layer {number}", *about)
        says = "The last vector of [CLS], through a dense layer and tanh: one for the sentence."
        watch(model, "pooler_af", "verdict", "pooled", says, ("sentence", "units"))
        if head is not None:
            watch(head, "classifier", "verdict", "logits", "A score for each class.", BY_CLASS)
        yield recorder


def attempt(run: Callable[[], object], recorder: Recorder) -> str:
    """Run a part of the model; if it fails, add a step that says why.

    Returns: the id of the function that is not written, or "".
    """
    try:
        run()
        return ""
    except Exception as error:  # whatever the functions of exercises raise
        why, hole = explain_training("your model", error), ""
        if isinstance(error, NotImplementedError):
            hole = str(error)
        reached = recorder.steps[-1].part if recorder.steps else "embedding"
        part = "layer 1" if hole in ("encode", "layer") else reached
        recorder.steps.append(Step(part, "missing" if hole else "it stops here", why))
        return hole


def parts_alone(model: BertModel, states: Tensor, mask: Tensor) -> dict[str, Callable[[], object]]:
    """Return the parts that can be run without those before: (1, T, D) and (1, T)."""
    first, extended = model.bert_layers[0], get_extended_attention_mask(mask, states.dtype)
    return {
        "encode": lambda: model.encode(states, mask),
        "layer": lambda: first(states, extended),
        "attention": lambda: first.self_attention(states, extended),
    }


def embedded(model: BertModel, ids: Tensor) -> Tensor:
    """Return what `embed` does, (1, T, D), or random numbers if it fails."""
    try:
        return model.embed(ids)
    except Exception:  # the walk says why
        generator = torch.Generator().manual_seed(0)
        return torch.randn(*ids.shape, model.config.hidden_size, generator=generator)


def run_all(
    model: BertModel, head: nn.Module | None, recorder: Recorder, ids: Tensor, mask: Tensor
) -> None:
    """Run the model; where a function is not written, run what comes after it by itself."""
    states = embedded(model, ids)
    recorder.steps.clear()  # they come again
    hole = attempt(lambda: (head or model)(ids, mask), recorder)
    while hole in NEXT:
        if hole == "embed":
            says = "Random numbers stand in for what it would return."
            recorder.steps.append(Step("embedding", "instead", says))
        hole = attempt(parts_alone(model, states, mask)[NEXT[hole]], recorder)


@torch.no_grad()
def follow(
    model: BertModel, head: nn.Module | None, tokenizer: BertTokenizer, sentence: str
) -> Walk:
    """Follow a sentence through a model, and through a classifier on top of it if there is one.

    Raises:
        InputError: the model cannot read it, or it is too long for a page.
    """
    longest = model.config.max_position_embeddings - PADS
    batch, tokens = encode(sentence, tokenizer, longest)
    if len(tokens) > MOST:
        raise InputError(f"the sentence has {len(tokens)} tokens; a page has room for {MOST}")
    ids = F.pad(batch["input_ids"], (0, PADS), value=tokenizer.pad_token_id)  # (1, T)
    mask = F.pad(batch["attention_mask"], (0, PADS))  # (1, T)
    with recorded(model, head) as recorder:
        run_all(model, head, recorder, ids, mask)
    steps = recorder.steps
    if steps and steps[-1].title == "logits" and steps[-1].tensor is not None:
        chances = steps[-1].tensor.softmax(dim=-1)  # (1, C)
        best, C = int(chances.argmax()), chances.shape[1]
        says = f"{class_name(best, C)}, with probability {float(chances.max()):.3f}."
        steps.append(Step("verdict", "verdict", says, chances, BY_CLASS))
    return Walk([*tokens, *["[PAD]"] * PADS], ids[0].tolist(), steps)
