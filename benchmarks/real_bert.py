"""Fine-tune real weights in minBERT and in transformers, side by side (`make bench-real SST=dir`).

Both models start from the same weights, the new layer's included, and learn by the same recipe,
that of classifier.py, in the same batches. They take turns, a step each, so that what else the
machine does falls on both; each has a random state of its own. Only ratios of times mean much.

Dimension key: B batch, T tokens, C classes.
"""

import argparse
import contextlib
import dataclasses
import importlib
import io
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from tqdm import tqdm

from instructor import ROOT
from instructor.huggingface.export_checkpoint import export_checkpoint
from instructor.huggingface.second_opinion import transformers
from instructor.on_solution import again_on_solution

EVERY = 20.0  # seconds between lines of progress without a terminal


class Theirs(nn.Module):
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


class Turns:
    """Alternates several runs; each keeps its own state of the random generator."""

    def __init__(self, count: int) -> None:
        self.waiting = list(range(count))  # the first of them has its turn
        self.changed = threading.Condition()

    def wait(self, number: int) -> None:
        """Wait until it is this run's turn."""
        with self.changed:
            self.changed.wait_for(lambda: self.waiting[0] == number)

    def pass_on(self, number: int) -> None:
        """Let the others have a turn each; come back when this run has it again."""
        state = torch.get_rng_state()
        with self.changed:
            self.waiting.append(self.waiting.pop(0))
            self.changed.notify_all()
        self.wait(number)
        torch.set_rng_state(state)

    def leave(self) -> None:
        """End a run in its turn."""
        with self.changed:
            self.waiting.pop(0)
            self.changed.notify_all()


@dataclasses.dataclass
class Run:
    """One model in training, and its results."""

    name: str
    model: Any
    steps: list[float] = dataclasses.field(default_factory=list)  # seconds each
    losses: list[float] = dataclasses.field(default_factory=list)
    accuracy: float = 0.0
    error: BaseException | None = None


def train(run: Run, number: int, turns: Turns, split: Any, recipe: Any, tell: Any) -> None:
    """Fine-tune one model in its turns, with the time of each step noted."""
    classifier = importlib.import_module("classifier")
    turns.wait(number)
    begun = time.perf_counter()

    def on_step(loss: float) -> None:
        nonlocal begun
        # the optimizer's step is called just before; everything else is in the next
        run.steps.append(time.perf_counter() - begun)
        run.losses.append(loss)
        tell()
        turns.pass_on(number)
        begun = time.perf_counter()

    try:
        tensors = split.input_ids, split.attention_mask, split.labels
        classifier.fine_tune(run.model, *tensors, recipe, on_step)
    except BaseException as error:
        run.error = error
    turns.leave()


def side_by_side(runs: Sequence[Run], split: Any, recipe: Any, tell: Callable[[], None]) -> None:
    """Train all runs, a step each in turn."""
    turns = Turns(len(runs))
    threads = [
        threading.Thread(target=train, args=(run, number, turns, split, recipe, tell))
        for number, run in enumerate(runs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for run in runs:
        if run.error is not None:
            raise run.error


def progress(total: int) -> Callable[[], None]:
    """Return a function that shows progress: a bar on a terminal, else occasional lines."""
    bar = tqdm(total=total, unit="step", disable=not sys.stderr.isatty(), leave=False)
    done, last = [0], [time.monotonic()]

    def tell() -> None:
        done[0] += 1
        bar.update()
        if bar.disable and time.monotonic() - last[0] > EVERY:
            last[0] = time.monotonic()
            print(f"  step {done[0]} of {total}", file=sys.stderr, flush=True)

    return tell


def subset(path: Path, count: int, folder: Path) -> Path:
    """Write `count` sentences of a file, drawn at random; all of them if it is 0."""
    examples = importlib.import_module("sentences").read_examples(path)
    kept = random.Random(0).sample(examples, min(count or len(examples), len(examples)))
    out = folder / path.name
    lines = [f"{label} ||| {sentence}\n" for label, sentence in kept]
    out.write_text("".join(lines), encoding="utf-8")
    return out


def build(checkpoint: Path, classes: int, seed: int, folder: Path) -> list[Run]:
    """Make both models from the same weights, the new layer's included."""
    classifier: Any = importlib.import_module("classifier")
    tokenizer = importlib.import_module("tokenizer").BertTokenizer.from_pretrained(checkpoint)
    bert = importlib.import_module("bert").BertModel.from_pretrained(checkpoint)
    torch.manual_seed(seed)
    ours = classifier.BertSentimentClassifier(bert, classes)
    (folder / "saved").mkdir()
    classifier.save_model(ours, tokenizer, folder / "saved")
    with contextlib.redirect_stdout(io.StringIO()):
        export_checkpoint(folder / "saved", folder / "exported")
    cls = transformers().BertForSequenceClassification
    return [
        Run("minBERT", ours),
        Run("transformers", Theirs(cls.from_pretrained(folder / "exported"))),
    ]


def report(runs: Sequence[Run], dev: Any) -> float:
    """Print a line per model; return how many times faster the first is than the second."""
    seconds = [sum(run.steps) for run in runs]
    print(f"\n  {'':<14} {'seconds':>8} {'a step':>8} {'last loss':>10} {'dev accuracy':>13}")
    for run, taken in zip(runs, seconds, strict=True):
        last = sum(run.losses[-20:]) / len(run.losses[-20:])
        each = f"{taken / len(run.steps):.3f}"
        print(f"  {run.name:<14} {taken:>8.1f} {each:>8} {last:>10.4f} {run.accuracy:>13.4f}")
    ratio = seconds[1] / seconds[0]
    noise = (0.5 / len(dev)) ** 0.5  # standard deviation of a difference, at accuracies near a half
    print(f"\n  minBERT is {ratio:.3f} times as fast")
    apart = abs(runs[0].accuracy - runs[1].accuracy)
    print(f"  accuracies are {apart:.4f} apart; chance alone makes about {noise:.4f} of {len(dev)}")
    return ratio


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(prog="real_bert", description="minBERT beside transformers.")
    parser.add_argument("checkpoint", type=Path, help="an imported one")
    parser.add_argument("--train", type=Path, default=ROOT / "data" / "train.txt")
    parser.add_argument("--dev", type=Path, default=ROOT / "data" / "dev.txt")
    parser.add_argument("--sentences", type=int, default=0, help="to train on; 0: all")
    parser.add_argument("--lr", type=float, default=1e-4, help="the highest learning rate")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0, help="0: torch's own number")
    options = parser.parse_args(arguments)
    if (status := again_on_solution("benchmarks.real_bert", arguments)) is not None:
        return status
    classifier, sentences = (importlib.import_module(n) for n in ("classifier", "sentences"))
    torch.set_num_threads(options.threads or torch.get_num_threads())
    recipe = classifier.Recipe(epochs=1, learning_rate=options.lr, seed=options.seed)
    opens = importlib.import_module("tokenizer").BertTokenizer.from_pretrained
    tokenizer = opens(options.checkpoint)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train_file = subset(options.train, options.sentences, folder)
        train_split = sentences.Split(train_file, tokenizer, 512)
        dev = sentences.Split(options.dev, tokenizer, 512)
        runs = build(options.checkpoint, int(train_split.labels.max()) + 1, options.seed, folder)
        steps, threads = recipe.steps(len(train_split)), torch.get_num_threads()
        print(
            f"one epoch of {len(train_split)} sentences of {options.train.name}, {steps} steps of "
            f"{recipe.batch_size}, seed {options.seed}, threads {threads}, {len(dev)} in dev",
            flush=True,
        )
        side_by_side(runs, train_split, recipe, progress(2 * steps))
        for run in runs:
            predictions = classifier.predict(run.model, dev.input_ids, dev.attention_mask)
            run.accuracy = sentences.accuracy(predictions, dev.labels)
    report(runs, dev)
    return 0


if __name__ == "__main__":
    sys.exit(main())
