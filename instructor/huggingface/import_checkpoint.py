"""Make a minBERT checkpoint from a Hugging Face BERT (`make import-checkpoint FROM=dir OUT=dir`).

The output folder has the same files as checkpoint/ and opens in minBERT and in transformers. If
transformers is installed, the results of both are compared before the folder gets its name.
"""

import dataclasses
import importlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from instructor.huggingface.foreign import (
    ForeignError,
    check_fit,
    read_config,
    read_tensors,
    read_tokenizer,
    rename_tensors,
)
from instructor.on_solution import folder_to_folder
from instructor.pretraining.checkpoint_files import config_text, tokenizer_config, weight_bytes
from tensormark.files import sha256
from tensormark.folders import whole_folder

CARD = """# An imported checkpoint

Made from a folder named `{name}` with `make import-checkpoint`. Its licence is that of the original
model. Source of the weights: `{file}`, sha256 {sha}.

Left out: {left_out}.
"""


def tokenizer_files(tokenizer: Any, positions: int) -> dict[str, str]:
    """Write the tokenizer for minBERT and transformers; return texts by file name."""
    pieces = sorted(tokenizer.tokenizer.get_vocab().items(), key=lambda pair: pair[1])
    whole = json.loads(tokenizer.tokenizer.to_str())
    normal = whole["normalizer"]
    lower, accents = normal["lowercase"], normal["strip_accents"]
    settings = {
        "do_lower_case": lower,
        "strip_accents": lower if accents is None else accents,
        "tokenize_chinese_chars": normal["handle_chinese_chars"],
    }
    return {
        "vocab.txt": "".join(f"{piece}\n" for piece, _ in pieces),
        "tokenizer.json": json.dumps(whole, ensure_ascii=False) + "\n",
        "tokenizer_config.json": tokenizer_config(positions, **settings),
    }


def _contents(source: Path) -> dict[str, bytes | str]:
    if not source.is_dir():
        raise ForeignError(f"{source}: there is no such folder; name the one that has config.json")
    base: Any = importlib.import_module("base_bert")
    config = read_config(source)
    tokenizer = read_tokenizer(source, config.vocab_size)
    tensors, path = read_tensors(source)
    tensors, left_out = rename_tensors(tensors, path)
    check_fit(tensors, left_out, config, path)
    config = dataclasses.replace(config, pad_token_id=tokenizer.pad_token_id)
    heads = {name for name in tensors if base.PRETRAINING_HEADS.search(name)}
    weights = {
        name if name in heads else f"bert.{name}": tensor for name, tensor in tensors.items()
    }
    facts = {"name": source.resolve().name, "file": path.name, "sha": sha256(path)}
    return {
        **tokenizer_files(tokenizer, config.max_position_embeddings),
        "config.json": config_text(config, "BertForPreTraining" if heads else "BertModel"),
        "model.safetensors": weight_bytes(weights, base.HUGGING_FACE_NAMES),
        "README.md": CARD.format(**facts, left_out=base.shorten(left_out) or "nothing"),
    }


def _verify(folder: Path, source: Path) -> list[str]:
    """Compare with transformers, which opens both the source and the new folder.

    Returns: a line per comparison.
    """
    opinion: Any = importlib.import_module("instructor.huggingface.second_opinion")  # imports torch
    if opinion.transformers() is None:
        return [opinion.NOT_INSTALLED]
    lines = []
    for other, name in ((source, "source"), (folder, "checkpoint")):
        for dtype, difference in opinion.compare_hidden_states(folder, other).items():
            what = "hidden states and pooler differ by at most"
            lines.append(f"{name}: {what} {difference:.1e} from transformers' ({dtype})")
        count = opinion.compare_tokens(folder, other)
        lines.append(f"{name}: {count} difficult lines are tokenized as in transformers")
    return lines


def _import_checkpoint(source: Path, out: Path) -> list[str]:
    """Write the whole checkpoint or nothing; return the lines of the report."""
    files = _contents(source)
    with whole_folder(out) as folder:
        for name, content in files.items():
            raw = content.encode("utf-8") if isinstance(content, str) else content
            (folder / name).write_bytes(raw)
        importlib.import_module("bert").BertModel.from_pretrained(folder)
        lines = _verify(folder, source)
    left_out = str(files["README.md"]).rpartition("Left out: ")[2].strip().removesuffix(".")
    return [*lines, f"left out: {left_out}", f"{out}: written"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Import the folder given; return 0 if a checkpoint was written, 2 if nothing was."""
    about = "Import a BERT.", "folder with config.json and weights"
    return folder_to_folder("import-checkpoint", about, _import_checkpoint, arguments)


if __name__ == "__main__":
    sys.exit(main())
