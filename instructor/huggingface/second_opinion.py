"""Compare minBERT with Hugging Face transformers on the same folder, if it is installed.

Dimension key: B batch, T tokens, C classes.
"""

import importlib
import importlib.util
import os
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from instructor.huggingface.foreign import ForeignError
from instructor.huggingface.hard_lines import HARD_LINES

# The largest difference that rounding explains, by type, as a share of the largest value: both
# compute the same sums, each in the order that suits the processor.
ALLOWED = {torch.float32: 1e-4, torch.float64: 1e-10}
LENGTH = 64  # tokens; longer texts take more time and show nothing new
NOT_INSTALLED = "transformers is not installed, so nothing was compared"


def transformers() -> Any:
    """Import transformers, for folders on this machine only; None if it is not installed."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    if importlib.util.find_spec("transformers") is None:
        return None
    library = importlib.import_module("transformers")
    library.logging.set_verbosity_error()
    library.logging.disable_progress_bar()
    return library


def _batch(folder: Path, positions: int) -> dict[str, Tensor]:
    """Encode the hard lines, alone and as pairs: (B, T) each, padded."""
    tokenizer = importlib.import_module("tokenizer").BertTokenizer.from_pretrained(folder)
    seconds = [HARD_LINES[index - 1] if index % 2 else "" for index in range(len(HARD_LINES))]
    batch: dict[str, Tensor] = tokenizer(HARD_LINES, seconds, max_length=min(LENGTH, positions))
    return batch


def _largest_difference(
    what: str, got: list[Tensor], expected: list[Tensor], folder: Path
) -> tuple[str, float]:
    """Return the name of the tensors' type, and the largest difference.

    Raises:
        ForeignError: it is larger than rounding explains.
    """
    dtype = got[0].dtype
    name = str(dtype).removeprefix("torch.")
    pairs = list(zip(got, expected, strict=True))
    difference = max((ours - theirs).abs().max().item() for ours, theirs in pairs)
    largest = max(theirs.abs().max().item() for _, theirs in pairs)
    if not difference <= ALLOWED[dtype] * largest:
        what = f"{what} differ by {difference:.1e} from transformers' ({name})"
        raise ForeignError(f"{folder}: {what}; minBERT does not compute the same model")
    return name, difference


def _open(cls: Any, folder: Path) -> Any:
    """Open a folder as a class of transformers; None if it lacks weights of that class."""
    try:
        model, info = cls.from_pretrained(folder, output_loading_info=True)
    except Exception as error:  # of many kinds
        reason = str(error).strip().splitlines()[:1] or [type(error).__name__]
        raise ForeignError(f"{folder}: transformers cannot open it ({reason[0]})") from error
    return None if info["missing_keys"] else model.eval()


@torch.no_grad()
def compare_hidden_states(folder: Path, other: Path) -> dict[str, float]:
    """Compare what minBERT computes from `folder` with what transformers computes from `other`.

    Returns: the largest difference of hidden states and pooler output, by type; empty if
        transformers does not find all weights in `other`.

    Raises:
        ForeignError: the difference is larger than rounding explains.
    """
    ours = importlib.import_module("bert").BertModel.from_pretrained(folder)
    theirs = _open(transformers().BertModel, other)
    batch = _batch(folder, ours.config.max_position_embeddings)
    real = batch["attention_mask"].bool()  # vectors of padding are never used
    differences = []
    for dtype in ALLOWED if theirs is not None else ():
        got = ours.to(dtype)(batch["input_ids"], batch["attention_mask"], batch["token_type_ids"])
        expected = theirs.to(dtype)(**batch)
        differences.append(
            _largest_difference(
                "hidden states",
                [got["last_hidden_state"][real], got["pooler_output"]],
                [expected.last_hidden_state[real], expected.pooler_output],
                other,
            )
        )
    return dict(differences)


def compare_tokens(folder: Path, other: Path) -> int:
    """Compare our tokenizer of `folder` with transformers' of `other`, line by line.

    Returns: how many lines were compared.

    Raises:
        ForeignError: a line has different ids.
    """
    ours = importlib.import_module("tokenizer").BertTokenizer.from_pretrained(folder)
    theirs = transformers().AutoTokenizer.from_pretrained(other)
    for line in HARD_LINES:
        if ours([line])["input_ids"][0].tolist() != theirs(line)["input_ids"]:
            fix = "check that its tokenizer files belong together"
            raise ForeignError(f"{other}: transformers tokenizes {line[:40]!r} differently; {fix}")
    return len(HARD_LINES)


@torch.no_grad()
def compare_logits(model: Any, folder: Path) -> dict[str, float]:
    """Compare our classifier, which is left in float64, with the saved one.

    Returns: the largest difference of the (B, C) logits, by type.

    Raises:
        ForeignError: the difference is larger than rounding explains.
    """
    theirs = _open(transformers().AutoModelForSequenceClassification, folder)
    batch = _batch(folder, model.bert.config.max_position_embeddings)
    del batch["token_type_ids"]  # our classifier reads single sentences
    model.eval()
    return dict(
        _largest_difference(
            "logits", [model.to(dtype)(**batch)], [theirs.to(dtype)(**batch).logits], folder
        )
        for dtype in ALLOWED
    )
