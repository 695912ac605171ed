"""The extensions: shown once they are started, and what they compute is what torch computes."""

import importlib
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from config import BertConfig
from grader.assignment import ASSIGNMENT
from optimizer import AdamW
from tensormark.exercise import Exercise
from tensormark.toolkit.seeds import SEEDS
from tensormark.worker.outputs import outputs_of
from testkit.graded import Grade
from tests.helpers import ROOT
from transformer import MultiHeadAttention

IDS = [exercise.id for exercise in ASSIGNMENT.exercises if exercise.extension]


def test_extensions_that_are_not_started_are_not_reported_whatever_their_line_endings(
    grade: Grade, tmp_path: Path
) -> None:
    solution = Path(shutil.copytree(ROOT / "solution", tmp_path / "handed_in"))
    for name in ("optimizer.py", "pretraining.py", "transformer.py"):
        text = (ROOT / "starter" / name).read_bytes()
        (solution / name).write_bytes(text.replace(b"\n", b"\r\n"))

    graded = grade(solution)

    assert [*graded.outcomes()][-len(IDS) :] == IDS
    assert {graded.outcomes()[name] for name in IDS} == {"not written yet"}
    assert not [word for word in (*IDS, "bonus") if word in graded.output]


def test_the_given_attention_of_the_decoder_is_pytorchs() -> None:
    torch.manual_seed(0)
    B = 2
    T = 5
    S = 7
    part = MultiHeadAttention(BertConfig(hidden_size=6, num_attention_heads=2)).eval().double()
    states = torch.randn(B, T, 6).double()
    memory = torch.randn(B, S, 6).double()
    masks = torch.randn(B, 1, 1, S).double(), torch.randn(B, 1, T, T).double()
    for source, mask in zip((memory, states), masks, strict=True):
        query, key, value = (
            linear(x).unflatten(-1, (2, -1)).transpose(1, 2)
            for linear, x in ((part.query, states), (part.key, source), (part.value, source))
        )
        expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)

        assert torch.allclose(
            part(states, source, mask), part.dense(expected.transpose(1, 2).flatten(2)), atol=1e-6
        )


@pytest.mark.parametrize("decay", [0.0, 0.1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_solutions_optimizer_is_torchs(decay: float, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    ours = [torch.randn(3, 4, dtype=dtype), torch.randn(5, dtype=dtype)]
    theirs = [p.clone() for p in ours]
    settings = {"lr": 1e-2, "betas": (0.9, 0.99), "eps": 1e-6, "weight_decay": decay}
    optimizers = [AdamW(ours, **settings), torch.optim.AdamW(theirs, **settings)]

    for _ in range(20):
        for parameter, other in zip(ours, theirs, strict=True):
            parameter.grad = torch.randn_like(parameter)
            other.grad = parameter.grad.clone()
        for optimizer in optimizers:
            optimizer.step()

    for parameter, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(parameter, other)


def wrong_draws(exercise: Exercise, generator: Callable[[int], Any], seeds: int) -> list[str]:
    """Return what an exercise's statistics say against the solution with seeds below `seeds`."""
    function = getattr(importlib.import_module(exercise.module), exercise.id)
    complaints = []
    for probe in exercise.probes:
        (call,) = probe.calls
        inputs = exercise.inputs(call, 5)
        tensors = [torch.from_numpy(value) for value in inputs.values()]
        for seed in range(seeds) if probe.examine and call.kind != SEEDS else ():
            arguments = [
                call.literals.get(name, generator(seed) if name.startswith("*") else None)
                for name in call.args[len(tensors) :]
            ]
            outputs = outputs_of(function(*tensors, *arguments), call.message())
            complaint = probe.examine({n: v.numpy() for n, v in outputs.items()}, inputs)
            complaints += [complaint] if complaint else []
    return complaints


def test_correct_code_that_draws_differently_never_fails() -> None:
    masks, pairs = (ASSIGNMENT.exercise(n) for n in ("mask_tokens", "make_sentence_pairs"))

    assert wrong_draws(masks, lambda seed: torch.Generator().manual_seed(seed), 100) == []
    assert wrong_draws(pairs, random.Random, 30) == []
