"""The extensions: their bonus is counted separately, and not shown unless they are handed in."""

import importlib
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from config import BertConfig
from graded import Grade
from grader.assignment import ASSIGNMENT
from resident import called
from tensormark.exercise import Exercise
from tensormark.toolkit.seeds import SEEDS
from tensormark.worker.outputs import outputs_of
from tests.helpers import ROOT
from transformer import MultiHeadAttention

IDS = [exercise.id for exercise in ASSIGNMENT.exercises if exercise.extension]
MOST = sum(exercise.max_score for exercise in ASSIGNMENT.exercises if exercise.extension)
CORE = 80  # without the fine-tune


@pytest.fixture
def solution(tmp_path: Path) -> Path:
    """A folder with the solution, for the tests to change."""
    return Path(shutil.copytree(ROOT / "solution", tmp_path / "handed_in"))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_the_solution_has_every_bonus_point(grade: Grade) -> None:
    graded = grade("solution")

    assert (graded.result["score"], graded.result["max_score"]) == (CORE, CORE)
    assert (graded.result["bonus"], graded.result["bonus_max_score"]) == (MOST, MOST)
    assert f"bonus   {MOST} / {MOST}" in graded.output


def test_core_exercises_come_first(grade: Grade) -> None:
    ids = list(grade("starter").outcomes())

    assert ids[-len(IDS) :] == IDS


@pytest.mark.parametrize("source", ["starter", "solution"])
def test_extensions_that_are_not_handed_in_are_not_reported(
    grade: Grade, tmp_path: Path, source: str
) -> None:
    graded = grade(shutil.copy(ROOT / source / "bert.py", tmp_path))

    assert {graded.outcomes()[name] for name in IDS} == {"not written yet"}
    assert graded.result["bonus"] == 0
    assert not [name for name in IDS if name in graded.output]
    assert "bonus" not in graded.output


def test_a_bert_py_that_is_not_python_does_not_report_extensions(
    grade: Grade, tmp_path: Path
) -> None:
    (tmp_path / "bert.py").write_text("def (", encoding="utf-8")

    graded = grade(tmp_path / "bert.py")

    assert {graded.outcomes()[name] for name in IDS} == {"not written yet"}
    assert not [name for name in IDS if name in graded.output]


def test_an_extension_that_is_asked_for_is_reported(grade: Grade) -> None:
    graded = grade("starter", "--only", "adamw")

    assert "not written yet  adamw" in graded.output
    assert "bonus   0 / 10" in graded.output


def test_an_unwritten_function_in_a_started_file_is_reported(grade: Grade, solution: Path) -> None:
    shutil.copy(ROOT / "starter" / "pretraining.py", solution)
    edit(
        solution / "pretraining.py",
        'raise NotImplementedError("nsp_head")',
        "return self.seq_relationship(pooler_output)",
    )

    graded = grade(solution)

    assert graded.outcomes()["nsp_head"] == "passed"
    assert graded.outcomes()["mask_tokens"] == "not written yet"
    assert "not written yet  mask_tokens" in graded.output


def test_a_mistake_in_an_extension_costs_no_core_points(grade: Grade, solution: Path) -> None:
    edit(solution / "optimizer.py", 'lr * group["weight_decay"]', 'group["weight_decay"]')

    graded = grade(solution)

    assert graded.result["score"] == CORE
    assert graded.result["bonus"] == MOST - 10
    assert graded.exercise("adamw")["mistake"] == "decay_without_rate"


def test_a_mistake_in_attention_costs_no_point_of_the_decoder(grade: Grade, solution: Path) -> None:
    edit(solution / "bert.py", "scores + attention_mask", "scores")

    graded = grade(solution)

    assert graded.outcomes()["attention"] == "failed"
    assert graded.result["bonus"] == MOST


def test_a_mask_that_does_not_fit_the_decoders_memory_is_named(
    grade: Grade, solution: Path
) -> None:
    call = "self.cross_attention(x, encoded, cross_mask)"
    edit(solution / "transformer.py", call, call.replace("cross_mask)", "self_mask)"))

    output = grade(solution).output

    assert "MultiHeadAttention.forward() gets a mask of shape (3, 1, 7, 7)" in output


def test_the_given_attention_of_the_decoder_is_pytorchs() -> None:
    torch.manual_seed(0)
    B = 2
    T = 5
    S = 7
    config = BertConfig(hidden_size=6, num_attention_heads=2)
    part = MultiHeadAttention(config).eval().double()
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


def test_an_extension_that_is_not_python_costs_only_its_own_exercises(
    grade: Grade, solution: Path
) -> None:
    edit(solution / "transformer.py", "import math\n", "import math (\n")

    graded = grade(solution)

    failed = [name for name, outcome in graded.outcomes().items() if outcome == "failed"]
    assert failed == [
        exercise.id for exercise in ASSIGNMENT.exercises if exercise.file == "transformer.py"
    ]
    assert "transformer.py:" in graded.exercise("causal_mask")["message"]
    assert graded.result["score"] == CORE


@pytest.mark.tier("contained")
def test_an_extension_that_ends_the_process_costs_only_itself(grade: Grade, solution: Path) -> None:
    edit(solution / "optimizer.py", "import math\n", "import math, os\nos._exit(0)\n")

    graded = grade(solution, "--tier", "contained")

    failed = [name for name, outcome in graded.outcomes().items() if outcome == "failed"]
    assert failed == ["adamw"]


@pytest.mark.parametrize("decay", [0.0, 0.1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_solutions_optimizer_is_torchs(decay: float, dtype: torch.dtype) -> None:
    from optimizer import AdamW

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


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project that a student works in."""
    folder = tmp_path_factory.mktemp("checkout")
    names = "starter grader reference_outputs checkpoint data solution instructor"
    for name in names.split():
        ignored = shutil.ignore_patterns("private", "__pycache__", "runs")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copy(ROOT / "requirements.txt", folder)
    return folder


def check(checkout: Path) -> dict[str, Any]:
    """Run `make check` in the checkout, on the starter; return the result."""
    path = checkout / "result.json"
    assert called(checkout, "check", "starter", "--json", str(path)).returncode == 0
    return json.loads(path.read_text(encoding="utf-8"))


def test_extensions_that_are_written_in_the_starter_are_graded(checkout: Path) -> None:
    for name in ("bert.py", "optimizer.py", "transformer.py"):
        shutil.copy(ROOT / "solution" / name, checkout / "starter")

    result = check(checkout)

    passed = [e["id"] for e in result["exercises"] if e["outcome"] == "passed"]
    written = [e for e in ASSIGNMENT.exercises if e.extension and e.file != "pretraining.py"]
    assert passed == ["attention", "add_norm", "layer", "embed", "encode", *[e.id for e in written]]
    assert result["bonus"] == sum(e.max_score for e in written)
    assert result["notes"] == []


def test_a_given_file_that_was_changed_in_the_starter_is_named(checkout: Path) -> None:
    with (checkout / "starter" / "utils.py").open("a", encoding="utf-8") as file:
        file.write("# mine\n")

    notes = check(checkout)["notes"]

    assert notes == ["starter/utils.py was modified, and this run uses the modified file"]


def test_references_recorded_in_the_checkout_know_its_given_files(checkout: Path) -> None:
    code = (
        "import json; from tensormark.folder import here, open_assignment; "
        "from tensormark.authoring.course import open_course; "
        "from tensormark.authoring.record import manifest; "
        "course = open_course(open_assignment(here())); about = course.assignment; "
        "made = manifest(course, [], about.seed, about.checkpoint); "
        "print(json.dumps(made['starter']))"
    )
    (checkout / "starter" / "optimizer.py").write_text("# mine\n", encoding="utf-8")

    completed = subprocess.run(
        [sys.executable, "-c", code], cwd=checkout, check=True, capture_output=True
    )

    recorded = (checkout / "reference_outputs" / "manifest.json").read_text(encoding="utf-8")
    assert json.loads(completed.stdout) == json.loads(recorded)["starter"]


def test_an_unchanged_extension_is_not_started_whatever_its_line_endings(
    grade: Grade, solution: Path
) -> None:
    for name in ("optimizer.py", "pretraining.py", "transformer.py"):
        text = (ROOT / "starter" / name).read_bytes()
        (solution / name).write_bytes(text.replace(b"\n", b"\r\n"))

    graded = grade(solution)

    assert graded.result["bonus"] == 0
    assert "bonus" not in graded.output
