"""Fine-tune in minBERT and in transformers, alternately (`make bench-real`, `make bench-trainer`).

    --trainer   also with transformers' own Trainer
    --rounds 3  how many fine-tunes of each

All start from the same weights, the new layer's included, and learn by the recipe of classifier.py,
in the same batches. Measures the processor time of training only; compare the ratios.

Dimension key: B batch, T tokens, C classes.
"""

import argparse
import contextlib
import copy
import importlib
import io
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader
from tqdm import tqdm

from instructor import ROOT
from instructor.huggingface.export_checkpoint import export_checkpoint
from instructor.huggingface.second_opinion import transformers
from instructor.on_solution import again_on_solution

MINBERT, LOOP, TRAINER = "minBERT", "transformers, same loop", "transformers, Trainer"


class TransformersClassifier(nn.Module):
    """transformers' BertForSequenceClassification behind the interface of our classifier."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.bert: Any = model.bert

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return next(self.parameters()).device

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Score the classes for each sentence: (B, T) ids and mask to (B, C) logits."""
        logits: Tensor = self.model(input_ids=input_ids, attention_mask=attention_mask).logits
        return logits


def subset(path: Path, count: int, folder: Path) -> Path:
    """Write `count` random sentences of a file to a folder; all of them if it is 0."""
    examples = importlib.import_module("sentences").read_examples(path)
    sample = random.Random(0).sample(examples, min(count or len(examples), len(examples)))
    file = folder / path.name
    lines = [f"{label} ||| {sentence}\n" for label, sentence in sample]
    file.write_text("".join(lines), encoding="utf-8")
    return file


def build(checkpoint: Path, classes: int, seed: int) -> tuple[Any, TransformersClassifier]:
    """Make both models from the same weights, the new layer's included."""
    classifier: Any = importlib.import_module("classifier")
    tokenizer = importlib.import_module("tokenizer").BertTokenizer.from_pretrained(checkpoint)
    bert = importlib.import_module("bert").BertModel.from_pretrained(checkpoint)
    torch.manual_seed(seed)
    ours = classifier.BertSentimentClassifier(bert, classes)
    pretrained_class = transformers().BertForSequenceClassification
    with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(io.StringIO()):
        minbert_folder, transformers_folder = Path(name) / "saved", Path(name) / "exported"
        minbert_folder.mkdir()
        classifier.save_model(ours, tokenizer, minbert_folder)
        export_checkpoint(minbert_folder, transformers_folder)
        return ours, TransformersClassifier(pretrained_class.from_pretrained(transformers_folder))


def collate(rows: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Pad the sentences of a batch: (B, T) ids and mask, (B,) labels."""
    ids = [row["input_ids"] for row in rows]
    return {
        "input_ids": pad_sequence(ids, batch_first=True),
        "attention_mask": pad_sequence([torch.ones_like(row) for row in ids], batch_first=True),
        "labels": torch.stack([row["labels"] for row in rows]),
    }


def rows_of(split: Any) -> Any:
    """Return each sentence's ids, without padding, and its label, as Trainer expects them."""
    lengths = split.attention_mask.sum(dim=1).tolist()
    return [
        {"input_ids": ids[:length], "labels": label}
        for ids, length, label in zip(split.input_ids, lengths, split.labels, strict=True)
    ]


def batches_of(split: Any, recipe: Any) -> list[list[int]]:
    """Return the batches that classifier.py draws."""
    order = torch.Generator().manual_seed(recipe.seed)
    by_length = importlib.import_module("sentences").by_length
    return [rows.tolist() for rows in by_length(split.attention_mask, recipe.batch_size, order)]


def optimizers(model: Any, recipe: Any, steps: int) -> tuple[Any, Any]:
    """Return the recipe's optimizer and rates."""
    learning_rates = importlib.import_module("classifier").learning_rates
    rates = [*learning_rates(recipe, model.config.hidden_size, steps), 0.0]
    adamw = torch.optim.AdamW(model.parameters(), 1.0, weight_decay=recipe.weight_decay, fused=True)
    return adamw, torch.optim.lr_scheduler.LambdaLR(adamw, rates.__getitem__)


def seconds_with_trainer(model: Any, split: Any, recipe: Any) -> float:
    """Fine-tune with transformers' Trainer; return the processor seconds of its `train`."""
    library, rows, batches = transformers(), rows_of(split), batches_of(split, recipe)

    class FixedBatchTrainer(library.Trainer):  # type: ignore[misc, name-defined]
        def get_train_dataloader(self) -> Any:
            loader = DataLoader(rows, batch_sampler=batches, collate_fn=collate)
            return self.accelerator.prepare(loader)

    quiet_options = {
        "save_strategy": "no",
        "report_to": [],
        "disable_tqdm": True,
        "logging_strategy": "no",
    }
    with tempfile.TemporaryDirectory() as folder:
        options = library.TrainingArguments(
            output_dir=folder,
            num_train_epochs=recipe.epochs,
            max_grad_norm=recipe.clip,
            seed=recipe.seed,
            use_cpu=True,
            **quiet_options,
        )
        optimizer_and_schedule = optimizers(model, recipe, len(batches))
        trainer = FixedBatchTrainer(
            model=model, args=options, train_dataset=rows, optimizers=optimizer_and_schedule
        )
        started = time.process_time()
        with contextlib.redirect_stdout(io.StringIO()):
            trainer.train()
        return time.process_time() - started


def seconds_in_our_loop(model: Any, split: Any, recipe: Any) -> float:
    """Fine-tune with classifier.py; return the processor seconds."""
    classifier = importlib.import_module("classifier")
    tensors = split.input_ids, split.attention_mask, split.labels
    with tqdm(total=recipe.steps(len(split)), unit="step", leave=False, mininterval=5) as bar:
        started = time.process_time()
        classifier.fine_tune(model, *tensors, recipe, lambda loss: bar.update())
        return time.process_time() - started


def report(seconds: dict[str, list[float]], accuracies: dict[str, float]) -> None:
    """Print for each its time, the median of its ratios to ours, and its accuracy."""
    for name, times in seconds.items():
        pairs = zip(times, seconds[MINBERT], strict=True)
        ratio = statistics.median(theirs / ours for theirs, ours in pairs)
        print(
            f"  {name:<24} {statistics.median(times):6.2f} s of processor time, "
            f"{ratio:.2f} times minBERT's; dev accuracy {accuracies[name]:.4f}"
        )


def parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="beside_transformers", description="Compare minBERT with transformers."
    )
    add = parser.add_argument
    add("checkpoint", type=Path, nargs="?", default=ROOT / "checkpoint", help="imported checkpoint")
    add("--train", type=Path, default=ROOT / "data" / "train.txt")
    add("--dev", type=Path, default=ROOT / "data" / "dev.txt")
    add("--sentences", type=int, default=0, help="how many to train on; 0: all")
    add("--lr", type=float, help="the highest learning rate")
    add("--seed", type=int, default=0)
    add("--threads", type=int, default=1, help="torch's threads")
    add("--rounds", type=int, default=1, help="how many fine-tunes of each")
    add("--trainer", action="store_true", help="also with transformers' Trainer")
    return parser.parse_args(arguments)


def in_turns(options: argparse.Namespace, train: Any, dev: Any, recipe: Any) -> None:
    """Fine-tune all models alternately, and print the results."""
    names = [MINBERT, LOOP, *[TRAINER] * options.trainer]
    seconds: dict[str, list[float]] = {name: [] for name in names}
    accuracies: dict[str, float] = {}
    classifier, sentences = (importlib.import_module(n) for n in ("classifier", "sentences"))
    for number in range(options.rounds):
        ours, theirs = build(options.checkpoint, int(train.labels.max()) + 1, options.seed)
        for name, model in zip(names, (ours, theirs, copy.deepcopy(theirs)), strict=False):
            if name == TRAINER:
                seconds[name].append(seconds_with_trainer(model.model, train, recipe))
            else:
                seconds[name].append(seconds_in_our_loop(model, train, recipe))
            predictions = classifier.predict(model, dev.input_ids, dev.attention_mask)
            accuracies[name] = sentences.accuracy(predictions, dev.labels)
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
    report(seconds, accuracies)


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the sentences, fine-tune, and print."""
    options = parse_options(arguments)
    if (status := again_on_solution("benchmarks.beside_transformers", arguments)) is not None:
        return status
    torch.set_num_threads(options.threads)
    recipe = importlib.import_module("classifier").Recipe(
        epochs=1, learning_rate=options.lr, seed=options.seed
    )
    tokenizer = importlib.import_module("tokenizer").BertTokenizer.from_pretrained(
        options.checkpoint
    )
    split = importlib.import_module("sentences").Split
    with tempfile.TemporaryDirectory() as folder:
        file = subset(options.train, options.sentences, Path(folder))
        train, dev = split(file, tokenizer, 512), split(options.dev, tokenizer, 512)
    print(f"{recipe.steps(len(train))} steps of {recipe.batch_size}, threads {options.threads}")
    in_turns(options, train, dev, recipe)
    return 0


if __name__ == "__main__":
    sys.exit(main())
