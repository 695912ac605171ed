"""minBERT: everything that the grader knows about BERT.

    exercises/     a file per exercise: its calls, their inputs, its points
    model.py       sizes and config of the small models, and what their calls have in common
    inputs.py      random weights, hidden states, ids and masks
    dropout.py, statistics.py   judge random outputs
    locate.py      where an output is wrong, in words such as row, token and unit
    forbidden.py   library code that submissions may not use
    sentiment.py   the fine-tune and its threshold
    harness.py     builds models, with stand-ins for upstream exercises; runs in the worker

Another assignment is another such folder; see `Assignment` in grader/exercise.py.
"""

import importlib
import pkgutil
from pathlib import Path

from grader.assignment.forbidden import ATTENTION, OPTIMIZERS
from grader.assignment.locate import AXES, locate, padding_of
from grader.exercise import Assignment, Exercise, Policy
from grader.files import ROOT


def exercises() -> tuple[Exercise, ...]:
    """Return the exercise of every file of exercises/, in order."""
    package = f"{__name__}.exercises"
    names = [info.name for info in pkgutil.iter_modules([str(Path(__file__).parent / "exercises")])]
    found = [importlib.import_module(f"{package}.{name}").EXERCISE for name in names]
    return tuple(sorted(found, key=lambda exercise: exercise.order))


MINBERT = Assignment(
    name="minBERT",
    folder=ROOT,
    editable=("bert.py", "optimizer.py", "pretraining.py", "transformer.py"),
    imports=("config", "base_bert", "bert"),
    exercises=exercises(),
    harness=Path(__file__).with_name("harness.py"),
    policy=Policy(ATTENTION, given_only=OPTIMIZERS, flagged=("tokenizers",)),
    packages=("torch", "numpy", "matplotlib", "safetensors", "tokenizers", "tqdm"),
    axes=AXES,
    locate=locate,
    padding=padding_of,
)
