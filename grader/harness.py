"""What the worker knows about BERT: building models, with stand-ins or not, and fine-tuning.

Runs next to a student's code, and knows no correct answer. Stand-ins replace the functions of
upstream exercises: smooth artificial functions that depend on everything the function on trial
decides (which tensors, which modules, which mask, which order), and are not the solution of any
exercise. All else of a part stays as it is, so that what is given may also be written out.

Dimension key: B batch, T tokens, D model width, H heads, d head width (D = H * d), N sentences.
"""

from collections.abc import Callable, Mapping
from typing import Any

import tokenizers  # noqa: F401 - for submissions: once, before a child is forked for each
import torch
import tqdm  # noqa: F401 - likewise
from torch import Tensor, nn

from tensormark.worker.calls import Answer, Context, Progress, build, draws, run_call, steps_across
from tensormark.worker.objects import load_by_name, member
from tensormark.worker.outputs import StudentError


def seen(
    attention_mask: Tensor | None, method: str, sizes: tuple[int, int, int], like: Tensor
) -> Tensor:
    """Return (B, T): the share of heads and tokens that may look at each token, or NaN.

    Args:
        method: that got the mask, for messages.
        sizes: B, H and T.
        like: of the type of the result.

    Raises:
        StudentError: the mask cannot be added to scores (B, H, T, T).
    """
    B, H, T = sizes
    if attention_mask is None:
        return like.new_ones(B, T)
    if not isinstance(attention_mask, Tensor):
        raise StudentError(f"{method}() gets an attention_mask that is not a tensor")
    shape = tuple(attention_mask.shape)
    full = (1,) * (4 - len(shape)) + shape
    allowed = ({1, B}, {1, H}, {1, T}, {1, T})
    if len(full) != 4 or any(n not in some for n, some in zip(full, allowed, strict=True)):
        expected = f"({B}, 1, 1, {T}): it is extended once, in encode"
        raise StudentError(f"{method}() gets an attention_mask of shape {shape}, not {expected}")
    visible = (attention_mask > -5000).to(like.dtype)  # any large negative number hides
    visible = visible.masked_fill(attention_mask.isnan(), torch.nan)
    return visible.reshape(full).expand(B, -1, T, T).mean((1, 2))


def attention(
    part: Any, key: Tensor, query: Tensor, value: Tensor, attention_mask: Tensor | None
) -> Tensor:
    """Replace BertSelfAttention.attention: (B, H, T, d) each and the mask in, (B, T, D) out.

    Mixes neighbours and adds up the heads, each with a factor of its own.
    """
    called = f"{type(part).__name__}.attention"
    if value.dim() != 4:
        says = f"gets a value of shape {tuple(value.shape)}, not (B, H, T, d)"
        raise StudentError(f"{called}() {says}: call the module, self.self_attention(...)")
    B, H, T, d = value.shape
    weight = seen(attention_mask, called, (B, H, T), value)[:, None, :, None]
    mixed = torch.sin(query) + weight * torch.roll(torch.tanh(key) - value, 1, dims=2)
    factors = torch.arange(1, H + 1, dtype=value.dtype)[:, None, None] / H
    ramp = torch.linspace(0.5, 1.5, H * d, dtype=value.dtype)
    return (factors * mixed).sum(1).repeat(1, 1, H) * ramp


def self_attention(part: Any, hidden_states: Tensor, attention_mask: Tensor | None) -> Tensor:
    """Replace BertSelfAttention.forward: as given, but with the stand-in for attention."""
    B, T, D = hidden_states.shape
    H = member(part, "num_attention_heads", "attribute")

    def heads(linear: Any) -> Tensor:
        projected: Tensor = linear(hidden_states)
        return projected.view(B, T, H, D // H).transpose(1, 2)  # (B, H, T, d)

    return attention(part, heads(part.key), heads(part.query), heads(part.value), attention_mask)


def ones_of_heads(
    part: Any, key: Tensor, query: Tensor, value: Tensor, attention_mask: Tensor | None
) -> Tensor:
    """Replace BertSelfAttention.attention where all values are ones: ones (B, T, D) out."""
    return value.new_ones(value.shape).transpose(1, 2).flatten(2)


def ones(part: Any, hidden_states: Tensor, attention_mask: Tensor | None) -> Tensor:
    """Replace BertSelfAttention.forward where all values are ones: ones (B, T, D) out."""
    return torch.ones_like(hidden_states)


def layer(part: Any, hidden_states: Tensor, attention_mask: Tensor | None) -> Tensor:
    """Replace BertLayer.forward: (B, T, D) and the mask in, (B, T, D) out.

    Depends on the layer's own norm, so that order and number of layers matter.
    """
    B, T, _ = hidden_states.shape
    H = member(part.self_attention, "num_attention_heads", "attribute")
    called = f"{type(part).__name__}.forward"
    weight = seen(attention_mask, called, (B, H, T), hidden_states)[..., None]
    moved = torch.roll(weight * hidden_states, 1, dims=1)  # what is hidden is not read
    norm = part.out_layer_norm
    mixed: Tensor = norm.weight * torch.sin(hidden_states + norm.bias) + 0.5 * moved
    return mixed


def decoder_attention(part: Any, states: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
    """Replace MultiHeadAttention.forward: (B, T, D), (B, S, D) and the mask in, (B, T, D) out.

    Depends on how many tokens of `memory` each token may look at, and how many at each of those.

    Raises:
        StudentError: the mask cannot be added to scores (B, H, T, S).
    """
    shape = (states.shape[0], 1, states.shape[1], memory.shape[1])
    try:
        seen_by_all = states.new_ones(1) if mask is None else (mask > -5000).to(states.dtype)
        visible = seen_by_all.expand(shape)[:, 0]  # (B, T, S)
    except (RuntimeError, TypeError) as error:
        got = tuple(getattr(mask, "shape", ()))
        says = f"gets a mask of shape {got}, which does not broadcast to {shape}"
        raise StudentError(f"{type(part).__name__}.forward() {says}") from error
    pooled = (visible.mean(1)[..., None] * torch.tanh(part.value(memory))).sum(1, keepdim=True)
    mixed: Tensor = part.dense(torch.sin(part.query(states)) + visible.mean(2)[..., None] * pooled)
    return mixed


ROLES = {"dense_layer": nn.Linear, "dropout": nn.Dropout, "ln_layer": nn.LayerNorm}


def add_norm(
    part: Any, input: Tensor, output: Tensor, dense_layer: Any, dropout: Any, ln_layer: Any
) -> Tensor:
    """Replace BertLayer.add_norm: the result depends on every argument.

    Raises:
        StudentError: a module is passed in the place of another, or does not fit the output.
    """
    for name, module in zip(ROLES, (dense_layer, dropout, ln_layer), strict=True):
        others = tuple(kind for role, kind in ROLES.items() if role != name)
        if isinstance(module, (*others, Tensor)):
            says = f"{type(part).__name__}.add_norm() gets a {type(module).__name__} as {name}"
            order = "its arguments are input, output, dense_layer, dropout, ln_layer"
            raise StudentError(f"{says}, not a {ROLES[name].__name__}; {order}")
    reads = getattr(dense_layer, "in_features", output.shape[-1])
    if output.shape[-1] != reads:
        got = f"an output of width {output.shape[-1]} for a dense layer that reads {reads}"
        raise StudentError(f"{type(part).__name__}.add_norm() gets {got}")
    scale = getattr(ln_layer, "weight", 1.0) + getattr(dropout, "p", 0.0)
    changed: Tensor = torch.cos(input) * scale + torch.tanh(dense_layer(output)) - 0.5 * input
    return changed


def embed(part: Any, input_ids: Tensor, token_type_ids: Tensor | None = None) -> Tensor:
    """Replace BertModel.embed: ids (B, T) in, (B, T, D) out."""
    embedded = torch.tanh(part.word_embedding(input_ids))
    if token_type_ids is None:
        return embedded
    return embedded + torch.sin(token_type_ids)[..., None].to(embedded.dtype)


def encode(part: Any, hidden_states: Tensor, attention_mask: Tensor) -> Tensor:
    """Replace BertModel.encode where only what it gets matters: (B, T, D) in, the same out."""
    return hidden_states


PLAYED = attention, self_attention, ones_of_heads, ones, layer, add_norm, embed, encode
STAND_INS: Mapping[str, Callable[..., Any]] = {
    each.__name__: each for each in (*PLAYED, decoder_attention)
}


def constructor_arguments(context: Context, call: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the arguments of every constructor of the submission: a BertConfig."""
    config = context.module("config").BertConfig
    if call["checkpoint"]:
        return (config.from_json(context.checkpoint),)
    return (config(**call["config"]),)


def checkpoint_weights(context: Context) -> Mapping[str, Tensor]:
    """Return the frozen checkpoint's weights under minBERT's names."""
    loaded: Mapping[str, Tensor] = context.module("base_bert").load_weights(
        f"{context.checkpoint}/model.safetensors"
    )
    return loaded


def tokenizer_of(context: Context) -> Any:
    """Return the checkpoint's tokenizer."""
    return context.module("tokenizer").BertTokenizer.from_pretrained(context.checkpoint)


def other_tokenizer(context: Context) -> Any:
    """Return a tokenizer whose special tokens have other ids than the checkpoint's."""
    given = context.module("tokenizer")
    names = ("[SEP]", "[MASK]", "[UNK]", "[PAD]", "[CLS]")
    return given.BertTokenizer(given.wordpiece({name: n for n, name in enumerate(names)}))


ARGUMENTS: Mapping[str, Callable[[Context], Any]] = {
    "*tokenizer": tokenizer_of,
    "*tokenizer with other ids": other_tokenizer,
}


def without_rows_of_padding(
    context: Context, call: Mapping[str, Any], tensors: Mapping[str, Tensor], progress: Progress
) -> Answer:
    """Call a function that makes a mask (B, 1, T, T), and put 0 where the query is padding.

    Such rows do not matter.
    """
    answer = run_call(context, call, tensors)
    made = answer.tensors["out/output"]
    padding = tensors["attention_mask"] == 0
    if made.dim() == 4 and (made.shape[0], made.shape[2]) == padding.shape:
        answer.tensors["out/output"] = made.masked_fill(padding[:, None, :, None], 0)
    return answer


def with_row_of_padding(
    context: Context, call: Mapping[str, Any], tensors: Mapping[str, Tensor], progress: Progress
) -> Answer:
    """Call attention, and put 0 for the finite values of rows that are only padding.

    What these are depends on how tokens are hidden, and does not matter.
    """
    answer = run_call(context, {**call, "kind": "method"}, tensors)
    made = answer.tensors["out/output"]
    hidden = (tensors["attention_mask"] < 0).all(-1).flatten(1).all(-1)  # (B,)
    if made.dim() == 3 and made.shape[0] == len(hidden):
        of_padding = hidden[:, None, None] & made.isfinite()
        answer.tensors["out/output"] = made.masked_fill(of_padding, 0)
    return answer


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
    torch.manual_seed(call["seed"])  # for what a submission draws
    bert = build(context, {**call, **EVAL_ON_CHECKPOINT}, tensors)
    made = context.module("classifier").BertSentimentClassifier
    classifier: nn.Module = made(bert, call["num_labels"])
    return classifier


def encoded(context: Context, model: Any, sentences: list[str]) -> tuple[Tensor, Tensor]:
    """Return the ids and the mask of sentences, (N, T) each."""
    length = model.bert.config.max_position_embeddings
    batch = tokenizer_of(context)(sentences, max_length=length)
    return batch["input_ids"], batch["attention_mask"]


def fine_tune(
    context: Context, call: Mapping[str, Any], tensors: Mapping[str, Tensor], progress: Progress
) -> Answer:
    """Fine-tune the given classifier on the student's model.

    Args:
        call: `train`, a list of sentences; `num_labels`; `seed`.
        tensors: `labels`, (N,) int64, of the sentences.

    Returns:
        out/weights/<parameter>, for those of the given model; out/losses: (steps,) float32.
    """
    classifier = context.module("classifier")
    model = new_classifier(context, call, tensors)
    recipe = classifier.Recipe(seed=call["seed"])
    total = recipe.steps(len(call["train"]))
    losses: list[float] = []

    def on_step(loss: float) -> None:
        losses.append(loss)
        progress(len(losses), total)

    ids_and_mask = encoded(context, model, call["train"])
    classifier.fine_tune(model, *ids_and_mask, tensors["labels"], recipe, on_step)
    weights = given_weights(context, model)
    outputs = {f"out/weights/{name}": value for name, value in weights.items()}
    return Answer({}, outputs | {"out/losses": torch.tensor(losses, dtype=torch.float32)})


def given_weights(context: Context, model: nn.Module) -> dict[str, Tensor]:
    """Return those weights of a classifier that the given one has; a submission may add others."""
    own = dict(model.named_parameters())
    names = [f"bert.{name}" for name in checkpoint_weights(context)]
    names += [name for name in own if name.startswith("classifier.")]
    return {name: own[name] for name in names if name in own}


def predict(
    context: Context, call: Mapping[str, Any], tensors: Mapping[str, Tensor], progress: Progress
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
    shapes = {name: value.shape for name, value in given_weights(context, model).items()}
    if shapes != {name: value.shape for name, value in weights.items()}:
        return Answer({})
    load_by_name(model, weights)
    batch = encoded(context, model, call["predict"])
    return Answer({}, {"out/predictions": context.module("classifier").predict(model, *batch)})


KINDS = {
    "fine-tune": fine_tune,
    "predict": predict,
    "transposed optimizer": steps_across,
    "seeds": draws,
    "mask without rows of padding": without_rows_of_padding,
    "row of padding": with_row_of_padding,
}
