"""The base of every BERT model: initializing weights, and reading them from a checkpoint.

Dimension key: D model width.
"""

import re
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from config import BertConfig

WEIGHTS_NAME = "model.safetensors"

# Hugging Face's names of parameters and ours; {i} is the number of the layer.
HUGGING_FACE_NAMES = {
    "embeddings.word_embeddings": "word_embedding",
    "embeddings.position_embeddings": "pos_embedding",
    "embeddings.token_type_embeddings": "tk_type_embedding",
    "embeddings.LayerNorm": "embed_layer_norm",
    "encoder.layer.{i}.attention.self.query": "bert_layers.{i}.self_attention.query",
    "encoder.layer.{i}.attention.self.key": "bert_layers.{i}.self_attention.key",
    "encoder.layer.{i}.attention.self.value": "bert_layers.{i}.self_attention.value",
    "encoder.layer.{i}.attention.output.dense": "bert_layers.{i}.attention_dense",
    "encoder.layer.{i}.attention.output.LayerNorm": "bert_layers.{i}.attention_layer_norm",
    "encoder.layer.{i}.intermediate.dense": "bert_layers.{i}.interm_dense",
    "encoder.layer.{i}.output.dense": "bert_layers.{i}.out_dense",
    "encoder.layer.{i}.output.LayerNorm": "bert_layers.{i}.out_layer_norm",
    "pooler.dense": "pooler_dense",
    "cls.predictions.transform.dense": "mlm_head.dense",
    "cls.predictions.transform.LayerNorm": "mlm_head.layer_norm",
    "cls.predictions": "mlm_head",  # its bias
    "cls.seq_relationship": "nsp_head.seq_relationship",
}
# What torch.compile and DataParallel put before every name.
WRAPPED = re.compile(r"^(?:_orig_mod\.|module\.)+")
PRETRAINING_HEADS = re.compile(r"^(mlm|nsp)_head\.")
# Never loaded: a buffer, the decoder (it is the word embedding), and the fine-tuned classifier.
PASSED_OVER = re.compile(r"(^|\.)position_ids$|^cls\.predictions\.decoder\.|^classifier\.")


class CheckpointError(ValueError):
    """A checkpoint that cannot be used; the message names the file and what is wrong with it."""


def minbert_name(name: str) -> str:
    """Translate a Hugging Face parameter name; return any other name unchanged."""
    name = name.removeprefix("bert.")
    module, _, kind = name.rpartition(".")
    number = re.search(r"(?<=^encoder\.layer\.)\d+", module)
    pattern = re.sub(r"(?<=^encoder\.layer\.)\d+", "{i}", module)
    if pattern not in HUGGING_FACE_NAMES:
        return name
    module = HUGGING_FACE_NAMES[pattern].replace("{i}", number[0] if number else "")
    return f"{module}.{ {'gamma': 'weight', 'beta': 'bias'}.get(kind, kind) }"


def load_weights(path: str | Path, heads: bool = False) -> dict[str, Tensor]:
    """Read a checkpoint's tensors under minBERT's names.

    Args:
        path: a safetensors file.
        heads: also read the pre-training heads; then the encoder's names get the prefix "bert.".

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file is damaged, or not safetensors.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such checkpoint file")
    try:
        tensors = {WRAPPED.sub("", name): tensor for name, tensor in load_file(path).items()}
    except SafetensorError as error:
        raise CheckpointError(f"{path}: damaged, or not a safetensors file ({error})") from error
    kept = {minbert_name(name): t for name, t in tensors.items() if not PASSED_OVER.search(name)}
    encoder = {name: t for name, t in kept.items() if not PRETRAINING_HEADS.search(name)}
    if not heads:
        return encoder
    return {f"bert.{name}" if name in encoder else name: t for name, t in kept.items()}


def shorten(names: list[str]) -> str:
    """List up to three names, and count the rest."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


class BertPreTrainedModel(nn.Module):
    """A module with BERT's initialization that can load a checkpoint."""

    has_heads = False  # whether it includes the pre-training heads

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config

    @property
    def dtype(self) -> torch.dtype:
        """The type of the parameters, which is the type to compute in."""
        return next(self.parameters()).dtype

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return next(self.parameters()).device

    def init_weights(self) -> None:
        """Draw every weight from N(0, initializer_range); LayerNorm starts as the identity."""
        self.apply(self._init_module)

    def _init_module(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=self.config.initializer_range)
        if isinstance(module, nn.LayerNorm):
            nn.init.ones_(module.weight)
        if getattr(module, "bias", None) is not None:
            nn.init.zeros_(module.bias)

    def load_named_weights(self, weights: dict[str, Tensor], origin: str | Path) -> None:
        """Copy `weights` into the parameters of the same names: all of them or none.

        Args:
            weights: tensors under minBERT's names, exactly one per parameter.
            origin: the file they come from, for the error message.

        Raises:
            CheckpointError: names the missing, unexpected and mis-shaped keys.
        """
        own = dict(self.named_parameters())
        missing = sorted(own.keys() - weights.keys())
        unexpected = sorted(weights.keys() - own.keys())
        mis_shaped = [
            f"{name} is {tuple(weights[name].shape)}, should be {tuple(own[name].shape)}"
            for name in sorted(own.keys() & weights.keys())
            if weights[name].shape != own[name].shape
        ]
        faults = {"missing": missing, "unexpected": unexpected, "mis-shaped": mis_shaped}
        if any(faults.values()):
            listed = "; ".join(
                f"{kind}: {shorten(names)}" for kind, names in faults.items() if names
            )
            raise CheckpointError(f"{origin}: the weights do not match this model; {listed}")
        with torch.no_grad():
            for name, parameter in own.items():
                parameter.copy_(weights[name])

    @classmethod
    def from_pretrained(cls, directory: str | Path) -> "BertPreTrainedModel":
        """Build the model of a checkpoint directory, with its weights, in eval mode.

        Args:
            directory: has config.json and model.safetensors, with minBERT's or Hugging Face's
                names, with or without the prefix "bert.".

        Raises:
            FileNotFoundError: the directory, or a file in it, is missing.
            CheckpointError: a file is damaged or does not match; ValueError: config.json is wrong.
        """
        directory = Path(directory)
        model = cls(BertConfig.from_json(directory))
        weights_file = directory / WEIGHTS_NAME
        model.load_named_weights(load_weights(weights_file, cls.has_heads), weights_file)
        return model.eval()
