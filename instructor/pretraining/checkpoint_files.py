"""The checkpoint's files: Hugging Face's names, written atomically, with a digest of each."""

import dataclasses
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from safetensors.torch import save
from torch import Tensor

from base_bert import HUGGING_FACE_NAMES
from tensormark.files import sha256, write_whole
from tokenizer import SPECIAL_TOKENS, wordpiece

SUMS = "SHA256SUMS"  # in the format of sha256sum -c
THEIRS = {ours: theirs for theirs, ours in HUGGING_FACE_NAMES.items()}
Files = dict[str, bytes | str]  # contents by name


def _hugging_face_name(name: str) -> str:
    """Translate the name of a parameter; a prefix "bert." and other names are kept."""
    number = "".join(re.findall(r"(?<=bert_layers\.)\d+", name))
    bare = name.removeprefix("bert.").replace(f"bert_layers.{number}", "bert_layers.{i}")
    module, _, kind = bare.rpartition(".")
    prefix = "bert." if name.startswith("bert.") else ""
    return f"{prefix}{THEIRS.get(module, module).replace('{i}', number)}.{kind}"


def weight_bytes(parameters: Iterable[tuple[str, Tensor]]) -> bytes:
    """Write the weights as safetensors; without the decoder, which is the word embedding."""
    tensors = {
        _hugging_face_name(name): tensor.detach().float().contiguous()
        for name, tensor in parameters
    }
    return save(tensors, metadata={"format": "pt"})


def _json(values: dict[str, Any]) -> str:
    return json.dumps(values, indent=2, sort_keys=True) + "\n"


def model_files(model: Any) -> Files:
    """Write a model with its pre-training heads."""
    config = dataclasses.replace(model.config, initializer_range=0.02)  # for fine-tuning
    names = {"model_type": "bert", "hidden_act": "gelu", "architectures": ["BertForPreTraining"]}
    return {
        "config.json": _json(dataclasses.asdict(config) | names),
        "model.safetensors": weight_bytes(model.named_parameters()),
    }


def tokenizer_files(pieces: list[str], positions: int) -> Files:
    """Write the tokenizer of these word pieces."""
    whole = wordpiece({piece: number for number, piece in enumerate(pieces)})
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    settings = {
        "tokenizer_class": "BertTokenizer",
        "model_max_length": positions,
        **dict(zip(names, SPECIAL_TOKENS, strict=True)),
        **dict.fromkeys(("do_lower_case", "strip_accents", "tokenize_chinese_chars"), True),
    }
    return {
        "vocab.txt": "".join(f"{piece}\n" for piece in pieces),
        "tokenizer.json": whole.to_str(pretty=True) + "\n",
        "tokenizer_config.json": _json(settings),
    }


def write_checkpoint(folder: Path, files: Files, source: Path) -> None:
    """Write the files, then their digests and the digest of the source text."""
    for name, content in files.items():
        write_whole(folder / name, content)
    lines = [f"{sha256(folder / name)}  {name}\n" for name in sorted(files)]
    lines.append(f"{sha256(source)}  ../data/{source.name}\n")
    write_whole(folder / SUMS, "".join(lines))


def drifted(folder: Path) -> list[str]:
    """List the files that differ from their recorded digests."""
    sums = folder / SUMS
    if not sums.is_file():
        return [f"{sums}: missing"]
    faults = []
    for line in sums.read_text(encoding="utf-8").splitlines():
        recorded, _, name = line.partition("  ")
        path = folder / name
        if not path.is_file() or sha256(path) != recorded:
            faults.append(f"{path}: missing, or not the recorded file")
    return faults
