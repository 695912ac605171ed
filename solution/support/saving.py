"""Writes files and checkpoints: completely or not at all."""

import os
from pathlib import Path

from safetensors.torch import save
from torch import nn

from tokenizer import TOKENIZER_NAME, BertTokenizer


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    unfinished = path.with_name(path.name + ".tmp")
    unfinished.write_bytes(content)
    os.replace(unfinished, path)


def save_model(model: nn.Module, tokenizer: BertTokenizer, directory: Path) -> None:
    """Write a checkpoint folder with the tensors of `model.state_dict()`."""
    model.bert.config.to_json(directory / "config.json")
    write_whole(directory / TOKENIZER_NAME, tokenizer.tokenizer.to_str(pretty=True).encode())
    weights = save({name: t.cpu() for name, t in model.state_dict().items()})
    write_whole(directory / "model.safetensors", weights)
