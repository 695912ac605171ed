"""Save a model for Hugging Face transformers (`make export-checkpoint FROM=dir OUT=dir`).

FROM is a folder from `python classifier.py --save dir`, or any checkpoint that minBERT opens. A
classifier becomes a BertForSequenceClassification, an encoder alone a BertModel.
"""

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from instructor.huggingface.foreign import (
    SAFE,
    ForeignError,
    read_config,
    read_tensors,
    read_tokenizer,
)
from instructor.huggingface.import_checkpoint import tokenizer_files
from instructor.on_solution import folder_to_folder
from instructor.pretraining.checkpoint_files import config_text, weight_bytes
from tensormark.folders import whole_folder

HEAD = "classifier.weight"  # (C, D), in what classifier.py saves


def _open_model(source: Path) -> Any:
    """Open a folder as a BertSentimentClassifier if it has one, else as a BertModel."""
    if not source.is_dir():
        what = "there is no such folder; save one with `python classifier.py --save dir`"
        raise ForeignError(f"{source}: {what}")
    config = read_config(source)
    tensors, path = read_tensors(source)
    if path.name != SAFE:
        raise ForeignError(f"{path}: import this folder first, with `make import-checkpoint`")
    try:
        bert = importlib.import_module("bert").BertModel.from_pretrained(source)
        if HEAD not in tensors:
            return bert
        classifier: Any = importlib.import_module("classifier").BertSentimentClassifier
        model = classifier(bert, len(tensors[HEAD]))
        model.classifier.load_state_dict(
            {name: tensors[f"classifier.{name}"] for name in ("weight", "bias")}
        )
    except (ValueError, KeyError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise ForeignError(f"{path}: does not match the sizes in config.json ({reason})") from error
    assert config == bert.config
    return model.eval()


def _config(model: Any) -> str:
    if not hasattr(model, "classifier"):
        return config_text(model.config, "BertModel")
    labels = {str(number): f"LABEL_{number}" for number in range(model.classifier.out_features)}
    return config_text(
        model.bert.config,
        "BertForSequenceClassification",
        id2label=labels,
        label2id={name: int(number) for number, name in labels.items()},
        classifier_dropout=model.dropout.p,
    )


def _verify(model: Any, folder: Path, source: Path) -> list[str]:
    """Compare with transformers, which opens the new folder; return a line per comparison."""
    opinion: Any = importlib.import_module("instructor.huggingface.second_opinion")  # imports torch
    if opinion.transformers() is None:
        return [opinion.NOT_INSTALLED]
    count = opinion.compare_tokens(source, folder)
    lines = [f"{count} difficult lines are tokenized as in transformers"]
    if hasattr(model, "classifier"):
        what, differences = "logits differ by", opinion.compare_logits(model, folder)
    else:
        what = "hidden states and pooler differ by"
        differences = opinion.compare_hidden_states(source, folder)
    return lines + [
        f"{what} at most {difference:.1e} from transformers' ({dtype})"
        for dtype, difference in differences.items()
    ]


def export_checkpoint(source: Path, out: Path) -> list[str]:
    """Write the whole folder or nothing; return the lines of the report.

    Raises:
        ForeignError: the source cannot be used. OSError: nothing can be written there.
    """
    model = _open_model(source)
    config = read_config(source)
    tokenizer = read_tokenizer(source, config.vocab_size)
    names = importlib.import_module("base_bert").HUGGING_FACE_NAMES
    with whole_folder(out) as folder:
        for name, text in tokenizer_files(tokenizer, config.max_position_embeddings).items():
            (folder / name).write_text(text, encoding="utf-8")
        (folder / "config.json").write_text(_config(model), encoding="utf-8")
        (folder / SAFE).write_bytes(weight_bytes(dict(model.named_parameters()), names))
        lines = _verify(model, folder, source)
    return [*lines, f"{out}: written"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Export the folder given; return 0 if a new one was written, 2 if nothing was."""
    about = "Save for transformers.", "folder from classifier.py --save"
    return folder_to_folder("export-checkpoint", about, export_checkpoint, arguments)


if __name__ == "__main__":
    sys.exit(main())
