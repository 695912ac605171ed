"""A fine-tune here and in transformers: `python -m benchmarks.trainer` (`make bench-trainer`).

    --rounds 3   fine-tunes of each, in turns

Compares classifier.py's fine-tune with transformers' BERT in the same loop, and with transformers'
Trainer: the same weights, recipe, batches, steps and seed, on one thread. Measures the processor
time of training alone, without imports and predictions; only ratios of one run mean anything.

Dimension key: B batch, T tokens.
"""

import argparse
import contextlib
import copy
import importlib
import io
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from benchmarks.real_bert import build
from instructor import ROOT
from instructor.huggingface.second_opinion import transformers
from instructor.on_solution import again_on_solution

OURS, LOOP, TRAINER = "minBERT", "transformers, same loop", "transformers, Trainer"


def rows_of(split: Any) -> list[dict[str, Tensor]]:
    """Return each sentence as Trainer wants it: its ids, without padding, and its label."""
    lengths = split.attention_mask.sum(dim=1).tolist()
    return [
        {"input_ids": ids[:length], "labels": label}
        for ids, length, label in zip(split.input_ids, lengths, split.labels, strict=True)
    ]


def collate(rows: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Pad the sentences of a batch: (B, T) ids and mask, (B,) labels."""
    ids = [row["input_ids"] for row in rows]
    return {
        "input_ids": pad_sequence(ids, batch_first=True),
        "attention_mask": pad_sequence([torch.ones_like(one) for one in ids], batch_first=True),
        "labels": torch.stack([row["labels"] for row in rows]),
    }


def with_trainer(model: Any, split: Any, recipe: Any, batches: list[list[int]]) -> float:
    """Fine-tune with transformers' Trainer; return the processor seconds of its `train`."""
    library = transformers()
    rows: Any = rows_of(split)  # a list works as a dataset, but does not have its type
    classifier = importlib.import_module("classifier")
    rates = [*classifier.learning_rates(recipe, model.config.hidden_size, len(batches)), 0.0]
    adamw = torch.optim.AdamW(model.parameters(), 1.0, weight_decay=recipe.weight_decay, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(adamw, rates.__getitem__)

    class InTheseBatches(library.Trainer):  # type: ignore[misc, name-defined]
        def get_train_dataloader(self) -> Any:
            return self.accelerator.prepare(
                DataLoader(rows, batch_sampler=batches, collate_fn=collate)
            )

    with tempfile.TemporaryDirectory() as folder:
        options = library.TrainingArguments(
            output_dir=folder,
            num_train_epochs=recipe.epochs,
            max_grad_norm=recipe.clip,
            seed=recipe.seed,
            use_cpu=True,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            logging_strategy="no",
        )
        both = (adamw, schedule)
        trainer = InTheseBatches(model=model, args=options, train_dataset=rows, optimizers=both)
        begun = time.process_time()
        with contextlib.redirect_stdout(io.StringIO()):
            trainer.train()
        return time.process_time() - begun


def in_our_loop(model: Any, split: Any, recipe: Any) -> float:
    """Fine-tune with classifier.py; return the processor seconds."""
    classifier = importlib.import_module("classifier")
    begun = time.process_time()
    classifier.fine_tune(model, split.input_ids, split.attention_mask, split.labels, recipe)
    return time.process_time() - begun


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="trainer", description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3, help="of each (default: %(default)s)")
    options = parser.parse_args(arguments)
    if (status := again_on_solution("benchmarks.trainer", arguments)) is not None:
        return status
    classifier, sentences = (importlib.import_module(n) for n in ("classifier", "sentences"))
    torch.set_num_threads(1)
    opened = importlib.import_module("tokenizer").BertTokenizer.from_pretrained(ROOT / "checkpoint")
    train, dev = (
        sentences.Split(ROOT / "data" / f"{name}.txt", opened, 64) for name in ("train", "dev")
    )
    recipe = classifier.Recipe()
    assert recipe.epochs == 1, "the batches are those of one epoch"
    order = torch.Generator().manual_seed(recipe.seed)
    drawn = sentences.by_length(train.attention_mask, recipe.batch_size, order)
    batches = [rows.tolist() for rows in drawn]
    taken: dict[str, list[float]] = {OURS: [], LOOP: [], TRAINER: []}
    right: dict[str, float] = {}
    for number in range(options.rounds + 1):
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = (run.model for run in build(ROOT / "checkpoint", 2, 0, Path(folder)))
        for name, model in zip(taken, (ours, theirs, copy.deepcopy(theirs)), strict=True):
            if name == TRAINER:
                seconds = with_trainer(model.model, train, recipe, batches)
            else:
                seconds = in_our_loop(model, train, recipe)
            if number:  # the first round warms everything up
                taken[name].append(seconds)
            found = classifier.predict(model, dev.input_ids, dev.attention_mask)
            right[name] = sentences.accuracy(found, dev.labels)
    print(f"{len(batches)} steps of {recipe.batch_size}, medians of {options.rounds}, one thread")
    for name, each in taken.items():
        ratios = [one / own for one, own in zip(each, taken[OURS], strict=True)]
        print(
            f"  {name:<24} {statistics.median(each):5.2f} s of processor time, "
            f"{statistics.median(ratios):.2f} times minBERT's; dev accuracy {right[name]:.4f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
