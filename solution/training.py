"""What the programs that train have in common: texts, batches, progress, one-line errors, files.

Dimension key: B batch, N labels, C classes.
"""

import json
import math
import random
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from safetensors.torch import save
from torch import Tensor, nn
from torch.distributions import Categorical
from tqdm import tqdm

from arguments import explain_hole
from progress import counting
from sentences import InputError, write_whole
from tokenizer import TOKENIZER_NAME, BertTokenizer

POOL = 50  # batches from which items of similar length are put together
WATCHING = "__torch_function__"  # of walk.py; what it calls is called by the line before
REPORT = 100  # steps between two lines, and over which they average
LOSSES, ACCURACIES = "loss of each step", "dev accuracy after a step"  # of a curve's file
Item = TypeVar("Item")


class WrongResultError(Exception):
    """A function of an exercise has not returned what it should; the message says what."""


def shaped(name: str, result: object, shape: Sequence[int]) -> Tensor:
    """Return a function's result if it is a tensor of this shape.

    Args:
        name: of the function, for the message.

    Raises:
        WrongResultError: it is something else.
    """
    if isinstance(result, Tensor) and tuple(result.shape) == tuple(shape):
        return result
    got = f"shape {tuple(result.shape)}" if isinstance(result, Tensor) else type(result).__name__
    raise WrongResultError(f"{name} should return a tensor of shape {tuple(shape)}, got {got}")


def finite(loss: Tensor, step: int) -> float:
    """Return a loss as a number.

    Raises:
        FloatingPointError: it is NaN or infinite.
    """
    value = loss.item()
    if not math.isfinite(value):
        raise FloatingPointError(f"the loss became {value} in step {step + 1}")
    return value


def surprise(logits: Tensor, labels: Tensor) -> float:
    """Return the mean of -log p, where p are the probabilities of the labels, (N, C) and (N,)."""
    return -Categorical(logits=logits).log_prob(labels).mean().item()


def explain_training(program: str, error: Exception) -> str:
    """Say in one line why a program that runs the code of exercises had to stop, and where."""
    if isinstance(error, NotImplementedError) and str(error).isidentifier():
        return explain_hole(error)
    if isinstance(error, WrongResultError | FloatingPointError):
        return f"{program}: {error}; `make check` grades each function by itself"
    frames = traceback.extract_tb(error.__traceback__)
    folder = Path(__file__).resolve().parent
    here = [
        frame
        for frame in frames
        if Path(frame.filename).resolve().parent == folder and frame.name != WATCHING
    ]
    place, what = (here or frames)[-1], str(error).partition("\n")[0]
    line = f"{Path(place.filename).name}, line {place.lineno}, in {place.name}"
    return f"{line}: {type(error).__name__}: {what}"


def read_reviews(path: Path, count: int | None = None) -> list[list[str]]:
    """Read the first reviews of a text, or all of them, each a list of sentences.

    Args:
        path: a sentence on each line, in lower case with spaces between its tokens, and an empty
            line between reviews; the shipped text begins with the simplest.

    Raises:
        OSError, InputError: it cannot be read, or there are no two reviews of several sentences.
    """
    try:
        texts = path.read_text(encoding="utf-8").strip().split("\n\n")[:count]
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text") from error
    reviews = [text.split("\n") for text in texts]
    if sum(len(review) > 1 for review in reviews) < 2:
        what = "two reviews or more, of several lines each, with an empty line between"
        raise InputError(f"{path}: there should be {what}")
    return reviews


def batches(
    items: list[Item], size: int, length: Callable[[Item], int], rng: random.Random
) -> list[list[Item]]:
    """Put items of similar length into batches of `size`, in random order; shuffles `items`."""
    rng.shuffle(items)
    made = []
    for start in range(0, len(items), POOL * size):
        pool = sorted(items[start : start + POOL * size], key=length)
        made += [pool[first : first + size] for first in range(0, len(pool), size)]
    rng.shuffle(made)
    return made


def learning_rate(step: int, steps: int, highest: float, warmup: int) -> float:
    """Return the rate of a step, counted from 0: it rises, holds, and in the second half falls."""
    return highest * min(1.0, (step + 1) / warmup, (steps - step) / (steps / 2))


def average(rows: Sequence[Sequence[float]]) -> list[float]:
    """Average each column."""
    return [sum(column) / len(column) for column in zip(*rows, strict=True)]


def shown(
    losses: Iterable[tuple[float, ...]], steps: int, names: Sequence[str]
) -> Iterator[tuple[float, ...]]:
    """Pass losses on, with a progress bar on a terminal and a line every hundred steps.

    Args:
        names: of the losses in a tuple.
    """
    done: list[tuple[float, ...]] = []
    started = time.monotonic()
    with counting(steps, "training, step") as count:
        for step, loss in enumerate(losses, start=1):
            done.append(loss)
            count()
            if step % REPORT == 0 or step == steps:
                parts = zip(names, average(done[-REPORT:]), strict=True)
                means = "  ".join(f"{name} {mean:.3f}" for name, mean in parts)
                tqdm.write(f"step {step}  {means}  {time.monotonic() - started:.1f} s")
            yield loss


def save_model(model: nn.Module, tokenizer: BertTokenizer, directory: Path) -> None:
    """Write a checkpoint folder with the tensors of `model.state_dict()`."""
    model.bert.config.to_json(directory / "config.json")
    write_whole(directory / TOKENIZER_NAME, tokenizer.tokenizer.to_str(pretty=True).encode())
    weights = save({name: t.cpu() for name, t in model.state_dict().items()})
    write_whole(directory / "model.safetensors", weights)


def write_curve(path: Path, losses: list[float], accuracies: dict[int, float], epochs: int) -> None:
    """Write the training curve, for visualize.py: losses by step, and dev accuracies after some."""
    measured = [[step, share] for step, share in accuracies.items()]
    curve = {LOSSES: losses, ACCURACIES: measured, "epochs": epochs}
    write_whole(path, (json.dumps(curve) + "\n").encode())
