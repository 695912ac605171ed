"""The extensions: not reported until they are started; and the solution's AdamW is torch's."""

import shutil

import pytest
import torch

from grader.assignment import ASSIGNMENT
from optimizer import AdamW
from tests.helpers import ROOT

IDS = [exercise.id for exercise in ASSIGNMENT.exercises if exercise.extension]


def test_extensions_that_are_not_started_are_not_reported_whatever_their_line_endings(
    grade, tmp_path
):
    solution = shutil.copytree(ROOT / "solution", tmp_path / "handed_in")
    for name in ("optimizer.py", "pretraining.py", "transformer.py"):
        text = (ROOT / "starter" / name).read_bytes()
        (solution / name).write_bytes(text.replace(b"\n", b"\r\n"))

    graded = grade(solution)

    assert list(graded.outcomes())[-len(IDS) :] == IDS
    assert {graded.outcomes()[name] for name in IDS} == {"not written yet"}
    assert not [word for word in (*IDS, "bonus") if word in graded.output]


@pytest.mark.parametrize("decay", [0.0, 0.1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_solutions_optimizer_is_torchs(decay, dtype):
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
