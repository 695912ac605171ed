"""Exchange models with Hugging Face transformers, which opens and saves its own folders.

    make import-checkpoint FROM=dir OUT=dir   turn a Hugging Face BERT into a checkpoint
    make export-checkpoint FROM=dir OUT=dir   turn what classifier.py saved into a Hugging Face BERT

A folder is written only if both compute the same from it and split the same texts into tokens.
solution/ must be on PYTHONPATH.

Dimension key: B batch, T tokens.
"""

import argparse
import dataclasses
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load
from torch import Tensor

from base_bert import WEIGHTS_NAME, shorten
from bert import BertModel
from instructor.hard_lines import HARD_LINES
from instructor.pretraining.checkpoint_files import weight_bytes
from support.observe import open_model
from tensormark.files import whole_folder, write_whole
from tokenizer import TOKENIZER_NAME, BertTokenizer

# The largest difference that rounding in float64 explains, as a share of the largest value: both
# compute the same sums, each in the order that suits the processor.
ALLOWED = 1e-10
VOCAB_NAME = "vocab.txt"
LENGTH = 64  # tokens; longer texts take more time and show nothing new
CARD = """# An imported checkpoint

Made from a folder named `{name}` with `make import-checkpoint`. Its licence is that of the original
model. Left out: {left_out}.
"""


class ForeignError(ValueError):
    """A folder that cannot be used; the message is one line that names it."""


def transformers() -> Any:
    """Import transformers, for folders on this machine only."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    library: Any = importlib.import_module("transformers")  # here, as that takes seconds
    library.logging.set_verbosity_error()
    library.logging.disable_progress_bar()
    return library


def _opened(folder: Path, open_it: Callable[[Path], Any]) -> Any:
    """Open something in a folder.

    Raises:
        ForeignError: that fails, for whatever reason.
    """
    if not (folder / "config.json").is_file():
        raise ForeignError(f"{folder}: there is no config.json in it; name the model's folder")
    try:
        return open_it(folder)
    except Exception as error:  # libraries raise many kinds for a damaged file
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise ForeignError(f"{folder}: cannot be opened ({lines[0][:200]})") from error


# --- comparing ------------------------------------------------------------------------------------


@torch.no_grad()
def _answers(model: Any, batch: dict[str, Tensor]) -> list[Tensor]:
    """Return what a model of either library computes in float64, without vectors of padding."""
    output = model.double().eval()(**batch)
    if isinstance(output, Tensor):  # our classifier's logits
        return [output]
    if "logits" in output:
        return [output["logits"]]
    real = batch["attention_mask"].bool()  # (B, T)
    return [output["last_hidden_state"][real], output["pooler_output"]]


def compare(ours: Any, theirs: Any, tokenizer: BertTokenizer) -> str:
    """Have both models compute the same; return a line about it.

    Raises:
        ForeignError: they differ by more than rounding explains.
    """
    seconds = [line if index % 2 else "" for index, line in enumerate(HARD_LINES)]
    length = min(LENGTH, theirs.config.max_position_embeddings)
    batch = tokenizer(HARD_LINES, seconds, max_length=length)
    if hasattr(ours, "classifier"):
        del batch["token_type_ids"]  # our classifier reads single sentences
    expected = _answers(theirs, batch)
    pairs = zip(_answers(ours, batch), expected, strict=True)
    # by torch: unlike Python's max, it does not pass over NaN
    difference = torch.stack([(got - want).abs().max() for got, want in pairs]).max().item()
    largest = torch.stack([want.abs().max() for want in expected]).max().item()
    if not difference <= ALLOWED * largest:
        what = f"minBERT's results differ by {difference:.1e} from transformers' (float64)"
        raise ForeignError(f"{what}; it does not compute this model")
    return f"results differ by at most {difference:.1e} from transformers' (float64)"


def compare_tokens(ours: BertTokenizer, theirs: Any) -> str:
    """Have both split hard lines into tokens; return a line about it.

    Raises:
        ForeignError: they differ.
    """
    for line in HARD_LINES:
        if ours([line])["input_ids"][0].tolist() != theirs(line)["input_ids"]:
            raise ForeignError(f"transformers splits {line[:40]!r} into other tokens")
    return f"{len(HARD_LINES)} difficult lines are tokenized as in transformers"


def _save(model: Any, backend: Any, folder: Path) -> None:
    """Write a model of transformers, and a tokenizer that both libraries open."""
    model.save_pretrained(folder)
    weights = folder / WEIGHTS_NAME  # which safetensors lets nobody else read
    write_whole(weights, weights.read_bytes())
    positions = model.config.max_position_embeddings
    special = {f"{name}_token": f"[{name.upper()}]" for name in "pad unk cls sep mask".split()}
    fast = transformers().PreTrainedTokenizerFast
    fast(tokenizer_object=backend, model_max_length=positions, **special).save_pretrained(folder)
    pieces = sorted(backend.get_vocab().items(), key=lambda pair: pair[1])
    text = "".join(f"{piece}\n" for piece, _ in pieces)
    (folder / VOCAB_NAME).write_text(text, encoding="utf-8")


# --- importing ------------------------------------------------------------------------------------


def _open_theirs(source: Path) -> tuple[Any, list[str]]:
    """Open a BERT, with its pre-training heads if it has both; return it and what is left out."""
    model, info = _opened(
        source,
        lambda folder: transformers().BertForPreTraining.from_pretrained(
            folder, output_loading_info=True, dtype=torch.float32
        ),
    )
    missing = sorted(info["missing_keys"])
    faults = [name for name in missing if name.startswith("bert.")]
    faults += map(str, info["mismatched_keys"])
    if faults:
        names = shorten(faults)
        raise ForeignError(f"{source}: its weights are not those of a whole BERT: {names}")
    left_out = sorted(info["unexpected_keys"])
    if missing:
        heads = [name for name, _ in model.named_parameters() if name.startswith("cls.")]
        return model.bert, left_out + sorted(set(heads) - set(missing))
    return model, left_out


def import_checkpoint(source: Path, out: Path) -> list[str]:
    """Write a checkpoint of minBERT, or nothing; return the lines of the report.

    Raises:
        ForeignError: the source cannot be used. OSError: nothing can be written there.
    """
    model, left_out = _open_theirs(source)
    if not any((source / name).is_file() for name in (TOKENIZER_NAME, VOCAB_NAME)):
        # transformers would make one that knows no word
        raise ForeignError(f"{source}: there is no {TOKENIZER_NAME} or {VOCAB_NAME} in it")
    tokenizer = _opened(source, transformers().AutoTokenizer.from_pretrained)
    with whole_folder(out) as folder:
        model.config.pad_token_id = tokenizer.pad_token_id
        _save(model, tokenizer.backend_tokenizer, folder)
        own = _opened(source, lambda _: BertTokenizer.from_pretrained(folder))
        if own.vocab_size > model.config.vocab_size:
            raise ForeignError(f"{source}: its tokenizer has more pieces than the model")
        ours = _opened(source, lambda _: BertModel.from_pretrained(folder))
        lines = [compare_tokens(own, tokenizer), compare(ours, getattr(model, "bert", model), own)]
        names = shorten(left_out) or "nothing"
        card = CARD.format(name=source.resolve().name, left_out=names)
        (folder / "README.md").write_text(card, encoding="utf-8")
    return [*lines, f"left out: {names}", f"{out}: written"]


# --- exporting ------------------------------------------------------------------------------------


def _as_theirs(model: Any) -> Any:
    """Return a model of transformers with the same weights."""
    library = transformers()
    config = library.BertConfig(**dataclasses.asdict(model.config))
    theirs_class = library.BertModel
    if hasattr(model, "classifier"):
        config.num_labels = model.classifier.out_features
        config.classifier_dropout = model.dropout.p
        theirs_class = library.BertForSequenceClassification
    theirs = theirs_class(config)
    theirs.load_state_dict(load(weight_bytes(model.named_parameters())))
    return theirs


def export_checkpoint(source: Path, out: Path) -> list[str]:
    """Write a folder for transformers, or nothing; return the lines of the report.

    Raises:
        ForeignError: the source cannot be used. OSError: nothing can be written there.
    """
    model, tokenizer = _opened(source, open_model)
    with whole_folder(out) as folder:
        saved = _as_theirs(model)
        _save(saved, tokenizer.tokenizer, folder)
        theirs = _opened(folder, type(saved).from_pretrained)
        lines = [
            compare_tokens(tokenizer, transformers().AutoTokenizer.from_pretrained(folder)),
            compare(model, theirs, tokenizer),
        ]
    return [*lines, f"{out}: written"]


COMMANDS = {"import-checkpoint": import_checkpoint, "export-checkpoint": export_checkpoint}


def main(arguments: Sequence[str] | None = None) -> int:
    """Make one folder from another; return 0 if it was written, 2 if nothing was."""
    parser = argparse.ArgumentParser(prog="huggingface", description="Import or export a model.")
    parser.add_argument("command", choices=COMMANDS, help="which way")
    parser.add_argument("source", metavar="FROM", help="folder to read")
    parser.add_argument("out", metavar="OUT", help="folder to write, which must not exist")
    options = parser.parse_args(arguments)
    name = options.command
    if not options.source or not options.out:
        print(f"{name}: give both folders: make {name} FROM=dir OUT=dir", file=sys.stderr)
        return 2
    try:
        lines = COMMANDS[name](Path(options.source), Path(options.out))
    except (ForeignError, OSError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
