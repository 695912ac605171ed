"""What the worker knows about BERT: building models, with stand-ins or not, and fine-tuning.

Runs next to a student's code, and knows no correct answer. Stand-ins replace upstream exercises:
smooth artificial functions that depend on everything the function on trial decides (which tensors,
which modules, which mask, which order), and are not the solution of any exercise.

Dimension key: B batch, T tokens, D model width, N sentences.
"""

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import tokenizers  # noqa: F401 - for submissions: once, before a child is forked for each
import torch
from torch import Tensor, nn

from grader.worker.calls import Answer, Context, Progress, build, load_by_name


def seen(attention_mask: Tensor, like: Tensor) -> Tensor:
    """Return (B, T): the share of heads and tokens that may look at each token."""
    B, T = like.shape[:2]
    visible = (attention_mask > -5000).to(like.dtype)  # any large negative number hides
    return visible.expand(B, -1, -1, T).mean((1, 2))


class StandIn(nn.Module):
    """A module that can be called, but whose attributes cannot be accessed."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"`{name}` of a part is used; call the part itself, as a module")


class AttentionStandIn(StandIn):
    """Replaces a BertSelfAttention: mixes neighbours, depends on the mask."""

    def forward(self, hidden_states: Tensor, attention_mask: Tensor) -> Tensor:
        """(B, T, D) and the additive mask in, (B, T, D) out."""
        weight = seen(attention_mask, hidden_states)[..., None]
        return torch.sin(hidden_states) + weight * torch.roll(hidden_states, 1, dims=1)


class OnesStandIn(StandIn):
    """Replaces a BertSelfAttention whose values are all ones."""

    def forward(self, hidden_states: Tensor, attention_mask: Tensor) -> Tensor:
        """(B, T, D) and the additive mask in, ones (B, T, D) out."""
        return torch.ones_like(hidden_states)


class LayerStandIn(StandIn):
    """Replaces the encoder layer with this number: order and number of layers matter."""

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
    """Replace add_norm: the result depends on every argument."""
    scale: Tensor = ln_layer.weight + getattr(dropout, "p", 0.0)
    return torch.cos(input) * scale + torch.tanh(dense_layer(output)) - 0.5 * input


STAND_INS: Mapping[str, Callable[[Any], Any]] = {
    "attention": lambda owner: AttentionStandIn(),
    "ones": lambda owner: OnesStandIn(),
    "add_norm": lambda owner: add_norm_stand_in,
    "layers": lambda owner: nn.ModuleList(
        LayerStandIn(number) for number in range(owner.config.num_hidden_layers)
    ),
    "embed": lambda owner: lambda ids, *_: torch.tanh(owner.word_embedding(ids)),
}


# --- building ---------------------------------------------------------------------------------


def constructor_arguments(context: Context, call: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the arguments of every constructor of the submission: a BertConfig."""
    config = context.modules["config"].BertConfig
    if call["checkpoint"]:
        return (config.from_json(context.checkpoint),)
    return (config(**call["config"]),)


def checkpoint_weights(context: Context) -> Mapping[str, Tensor]:
    """Return the frozen checkpoint's weights under minBERT's names."""
    loaded: Mapping[str, Tensor] = context.modules["base_bert"].load_weights(
        f"{context.checkpoint}/model.safetensors"
    )
    return loaded


def tokenizer_of(context: Context) -> Any:
    """Return the checkpoint's tokenizer."""
    return context.module("tokenizer").BertTokenizer.from_pretrained(context.checkpoint)


ARGUMENTS: Mapping[str, Callable[[Context], Any]] = {"*tokenizer": tokenizer_of}


# --- the fine-tune ----------------------------------------------------------------------------

EVAL_ON_CHECKPOINT: dict[str, Any] = {
    "module": "bert",
    "target": "BertModel",
    "options": {},
    "checkpoint": True,
    "train": False,
    "dtype": "float32",
    "rates": {},
    "stand_ins": {},
}


def new_classifier(
    context: Context, call: Mapping[str, Any], tensors: Mapping[str, Tensor]
) -> nn.Module:
    """Put the given classifier on a BERT of the submission with the checkpoint's weights."""
    torch.manual_seed(call["seed"])  # draws the weights of the new layer
    bert = build(context, {**call, **EVAL_ON_CHECKPOINT}, tensors)
    made: nn.Module = context.module("classifier").BertSentimentClassifier(bert, call["num_labels"])
    return made


def encoded(context: Context, model: Any, sentences: list[str]) -> tuple[Tensor, Tensor]:
    """Return the ids and the mask of sentences, (N, T) each."""
    length = model.bert.config.max_position_embeddings
    found = tokenizer_of(context)(sentences, max_length=length)
    return found["input_ids"], found["attention_mask"]


def fine_tune(
    context: Context,
    call: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    progress: Progress,
) -> Answer:
    """Fine-tune the given classifier on the student's model, and predict or return the weights.

    Args:
        call: `train`, a list of sentences; `predict`, another, unlabelled, or None; `num_labels`;
            `seed`.
        tensors: `labels`, (N,) int64, of the sentences to train on.

    Returns:
        out/predictions: (N,) int64, for call["predict"] in its order; if that is None,
        out/weights/<parameter> for those of the given model.
    """
    classifier = context.module("classifier")
    model = new_classifier(context, call, tensors)
    recipe = classifier.Recipe(seed=call["seed"])
    steps, total = itertools.count(1), recipe.steps(len(call["train"]))

    def on_step(loss: float) -> None:
        progress(next(steps), total)

    ids_and_mask = encoded(context, model, call["train"])
    classifier.fine_tune(model, *ids_and_mask, tensors["labels"], recipe, on_step)
    if call["predict"] is not None:
        return Answer({}, {"out/predictions": predictions(context, call, model)})
    own = dict(model.named_parameters())  # a submission may have more of its own
    names = [f"bert.{name}" for name in checkpoint_weights(context)]
    names += [name for name in own if name.startswith("classifier.")]
    return Answer({}, {f"out/weights/{name}": own[name] for name in names if name in own})


def predictions(context: Context, call: Mapping[str, Any], model: nn.Module) -> Tensor:
    """Predict the call's sentences: (N,) int64."""
    found: Tensor = context.module("classifier").predict(
        model, *encoded(context, model, call["predict"])
    )
    return found


def predict(
    context: Context,
    call: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    progress: Progress,
) -> Answer:
    """Predict sentences with weights that come from elsewhere.

    Args:
        call: `predict`, a list of sentences; `num_labels`; `seed`.
        tensors: `weights/<parameter>`, untrusted.

    Returns:
        out/predictions: (N,) int64; nothing if the weights' names or shapes are not the model's.
    """
    model = new_classifier(context, call, tensors)
    weights = {name.removeprefix("weights/"): value for name, value in tensors.items()}
    own = dict(model.named_parameters())
    if {n: p.shape for n, p in own.items()} != {n: w.shape for n, w in weights.items()}:
        return Answer({})
    load_by_name(model, weights)
    return Answer({}, {"out/predictions": predictions(context, call, model)})


KINDS = {"fine-tune": fine_tune, "predict": predict}
