"""The checkpoint's files: Hugging Face's names, written atomically, with a digest of each."""

import dataclasses
import importlib
import json
import re
from pathlib import Path
from typing import Any

from safetensors.torch import save
from torch import Tensor

from tensormark.files import sha256, write_whole

SUMS = "SHA256SUMS"  # in the format of sha256sum -c


def _hugging_face_name(name: str, encoder_names: dict[str, str]) -> str:
    """Translate the name of a parameter of the encoder or of a head.

    Args:
        name: as in solution/; a prefix "bert." and the name of a classifier are kept.
        encoder_names: base_bert's HUGGING_FACE_NAMES.
    """
    ours = {own: theirs for theirs, own in encoder_names.items()}
    match = re.search(r"(?<=bert_layers\.)\d+", name)
    number = match[0] if match else ""
    bare = name.removeprefix("bert.").replace(f"bert_layers.{number}", "bert_layers.{i}")
    module, _, kind = bare.rpartition(".")
    prefix = "bert." if name.startswith("bert.") else ""
    return f"{prefix}{ours.get(module, module).replace('{i}', number)}.{kind}"


def weight_bytes(parameters: dict[str, Tensor], encoder_names: dict[str, str]) -> bytes:
    """Write the weights as safetensors; without the decoder, which is the word embedding."""
    tensors = {
        _hugging_face_name(name, encoder_names): tensor.detach().float().contiguous()
        for name, tensor in parameters.items()
    }
    return save(tensors, metadata={"format": "pt"})


def config_text(config: Any, architecture: str, **further: Any) -> str:
    """Write a BertConfig with Hugging Face's own keys.

    Args:
        architecture: the class of transformers that opens the weights.
    """
    names = {"model_type": "bert", "hidden_act": "gelu", "architectures": [architecture]}
    values = dataclasses.asdict(config) | names | further
    return json.dumps(values, indent=2, sort_keys=True) + "\n"


def tokenizer_config(positions: int, **settings: bool) -> str:
    """Write the settings that transformers reads besides the pieces; the default is uncased."""
    special = importlib.import_module("tokenizer").SPECIAL_TOKENS
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    defaults = dict.fromkeys(("do_lower_case", "strip_accents", "tokenize_chinese_chars"), True)
    values = {
        "tokenizer_class": "BertTokenizer",
        "model_max_length": positions,
        **dict(zip(names, special, strict=True)),
        **defaults,
        **settings,
    }
    return json.dumps(values, indent=2, sort_keys=True) + "\n"


def write_checkpoint(folder: Path, files: dict[str, bytes | str], source: Path) -> None:
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
        if not path.is_file():
            faults.append(f"{path}: missing")
        elif sha256(path) != recorded:
            faults.append(f"{path}: differs from the recorded file")
    return faults
