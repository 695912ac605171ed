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

from grader.worker.calls import Answer, Context, Progress, build


def seen(attention_mask: Tensor, like: Tensor) -> Tensor:
    """Return (B, T): the share of heads and tokens that may look at each token, or NaN."""
    B, T = like.shape[:2]
    visible = (attention_mask > -5000).to(like.dtype)  # any large negative number hides
    visible = visible.masked_fill(attention_mask.isnan(), torch.nan)
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


def fine_tune(
    context: Context,
    call: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    progress: Progress,
) -> Answer:
    """Fine-tune the given classifier on the student's model and predict unlabelled sentences.

    Args:
        call: `train` and `predict`, lists of sentences; `num_labels`; `seed`.
        tensors: `labels`, (N,) int64, of the sentences to train on.

    Returns:
        out/predictions: (N,) int64, for call["predict"] in its order.
    """
    classifier = context.module("classifier")
    torch.manual_seed(call["seed"])  # draws the weights of the new layer
    bert: Any = build(context, {**call, **EVAL_ON_CHECKPOINT}, tensors)
    model = classifier.BertSentimentClassifier(bert, call["num_labels"])
    tokenizer = tokenizer_of(context)
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


KINDS = {"fine-tune": fine_tune}
