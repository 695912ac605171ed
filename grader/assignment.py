"""minBERT: what the grader knows about BERT.

exercises/     one file per exercise: its calls, their inputs, its points
model.py       sizes of the small models and their inputs
probes.py      probes shared by several exercises
inputs.py      random weights, hidden states, ids and masks
locate.py      says where an output is wrong: in which row, token or unit
viva.py        the words of questions about the five functions, with those in viva_facts.py
forbidden.py   library code that submissions may not use
sentiment.py   the fine-tune and its threshold
harness.py     builds models, with stand-ins for upstream exercises; runs in the worker
mistakes/      known mistakes; only staff have these, honest/ (right code) and staff.py
"""

from pathlib import Path

import grader.exercises
from grader.forbidden import ATTENTION, OPTIMIZERS
from grader.locate import AXES, locate, padding_of
from tensormark.exercise import Assignment, collected
from tensormark.policy import Policy
from tensormark.predictions import Leaderboard, Split

GRADES = tuple("01234")  # from very bad to very good

ASSIGNMENT = Assignment(
    name="minBERT",
    folder=Path(__file__).resolve().parents[1],
    editable=("bert.py", "optimizer.py", "pretraining.py", "transformer.py"),
    imports=("config", "base_bert", "bert"),
    exercises=collected(grader.exercises),
    harness=Path(__file__).with_name("harness.py"),
    seed=2026,
    engine="2.13",
    policy=Policy(ATTENTION, given_only=OPTIMIZERS, section="Other libraries"),
    checkpoint_files=("config.json", "model.safetensors", "tokenizer.json", "vocab.txt"),
    packages=("torch", "numpy", "matplotlib", "safetensors", "tokenizers", "tqdm"),
    axes=AXES,
    locate=locate,
    padding=padding_of,
    leaderboard=Leaderboard(
        test=Split("data/grades/test.txt", "grades-test-out.txt", GRADES),
        dev=Split("data/grades/dev.txt", "grades-dev-out.txt", GRADES),
        card="data/README.md",
        mark="grades",
    ),
)
