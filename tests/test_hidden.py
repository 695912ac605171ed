"""Hidden inputs: whoever replays the public answers gets nothing for them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from grader import cases
from grader.store import Store

from conftest import ROOT, Grade

REPLAY = """

KNOWN = {known}


def replayed(self, input_ids, *more):
    key = (tuple(input_ids.flatten().tolist()), self.word_embedding.weight.flatten()[0].item())
    if key not in KNOWN:
        return torch.zeros(*input_ids.shape, self.config.hidden_size)
    answer = torch.tensor(KNOWN[key]).reshape(*input_ids.shape, -1)
    return answer.to(self.word_embedding.weight.dtype)


BertModel.embed = replayed
"""


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """References that only an instructor has, with inputs of their own."""
    folder = tmp_path_factory.mktemp("private")
    command = [sys.executable, "-m", "instructor.record", "--seed", "7", "--out", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture
def replay(tmp_path: Path, solution_source: str) -> Path:
    """A submission that knows the public answers of embed by heart, and nothing else of it."""
    exercise = next(e for e in cases.exercises() if e.id == "embed")
    known = {}
    for recording in Store(ROOT / "reference_outputs").recordings("embed", exercise.digest()):
        if "input_ids" in recording.inputs and "weights/word_embedding.weight" in recording.inputs:
            weight = recording.inputs["weights/word_embedding.weight"].flatten()[0]
            ids = tuple(recording.inputs["input_ids"].flatten().tolist())
            for value in (float(weight), float(weight.astype("float32"))):
                known.setdefault((ids, value), recording.outputs["output"].flatten().tolist())
    path = tmp_path / "bert.py"
    path.write_text(solution_source + REPLAY.format(known=repr(known)), encoding="utf-8")
    return path


def test_private_references_have_other_inputs(private: Path) -> None:
    ours, theirs = (
        load_file(folder / "attention.safetensors")["0/in/key"]
        for folder in (ROOT / "reference_outputs", private)
    )

    assert ours.shape == theirs.shape
    assert not np.isclose(ours, theirs).any()


def test_the_solution_passes_on_hidden_inputs(grade: Grade, private: Path) -> None:
    graded = grade("solution", "--references", str(private))

    assert graded.result["score"] == graded.result["max_score"] == 80


def test_a_replay_of_public_answers_gives_the_right_public_outputs(
    grade: Grade, replay: Path
) -> None:
    embed = grade(replay).exercise("embed")

    # what gives it away in public is dropout and gradients, which it does not know by heart
    assert "values of output differ" not in embed["message"]


def test_a_replay_of_public_answers_scores_nothing_on_hidden_inputs(
    grade: Grade, private: Path, replay: Path
) -> None:
    embed = grade(replay, "--references", str(private)).exercise("embed")

    assert embed["score"] == 0
    assert "values of output differ" in embed["message"]
