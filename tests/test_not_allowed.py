"""Forbidden library code that the syntax tree does not show, from a student's point of view."""

from pathlib import Path

import pytest

from graded import Grade
from grader.assignment import ASSIGNMENT
from tests.helpers import ROOT

HIDDEN = """

def attention(self, key, query, value, attention_mask):
    found = getattr(nn, "Multihead" + "Attention")(10, 2)
    return found(value, value, value)[0]


BertSelfAttention.attention = attention
"""


def test_hidden_forbidden_code_costs_the_exercise_that_uses_it(
    grade: Grade, tmp_path: Path, solution_source: str
) -> None:
    path = tmp_path / "bert.py"
    path.write_text(solution_source + HIDDEN, encoding="utf-8")

    graded = grade(path)

    attention = graded.exercise("attention")
    assert (attention["score"], attention["mistake"]) == (0, "forbidden")
    line = solution_source.count("\n") + 4
    assert attention["message"] == (
        "nn.MultiheadAttention is not allowed in this assignment: it is what you are asked to write"
        f' (bert.py, line {line})\nread: handout.md, "Other libraries"'
    )
    assert graded.result["score"] == graded.result["max_score"] - 25
    assert graded.exercise("layer")["message"] == "right when given a correct attention"


UNUSED = """
from torch import nn
from torch.nn import *
from torch.nn import MultiheadAttention as Theirs
from torch.optim import AdamW as TheirOptimizer
import tokenizers
import os, sys, matplotlib.pyplot as plt
sys.path.append(os.path.dirname(__file__))


class Older(nn.TransformerEncoder):
    pass


def compared(x):
    return nn.MultiheadAttention(8, 2)(x, x, x), F.layer_norm(x, (8,))


if __name__ == "__main__":
    theirs = nn.MultiheadAttention(8, 2)
"""


def test_forbidden_code_that_never_runs_costs_nothing(grade: Grade, tmp_path: Path) -> None:
    for name in ASSIGNMENT.editable:
        text = (ROOT / "solution" / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text + UNUSED, encoding="utf-8")

    graded = grade(tmp_path)

    assert graded.result["score"] == graded.result["max_score"]
    assert graded.result["bonus"] == graded.result["bonus_max_score"]


def test_forbidden_code_that_runs_during_the_import_is_named(
    grade: Grade, tmp_path: Path, solution_source: str
) -> None:
    path = tmp_path / "bert.py"
    path.write_text(f"{solution_source}\nvars(nn)['Transformer']()\n", encoding="utf-8")

    graded = grade(path, "--only", "embed")

    assert graded.exercise("embed")["mistake"] == "forbidden"
    assert "nn.Transformer is not allowed" in graded.output


@pytest.mark.parametrize(
    ("file", "exercise", "code"),
    [
        (
            "transformer.py",
            "layer_norm",
            "kept = nn.LayerNorm\ndef layer_norm(x, gain, bias, eps=1e-12):\n"
            "    return vars(F)['layer_' + 'norm'](x, x.shape[-1:], gain, bias, eps)\n",
        ),
        (
            "pretraining.py",
            "wordpiece",
            "def wordpiece(words, vocabulary, unknown_id, max_length=100):\n"
            "    found = getattr(__import__('token' + 'izers'), 'mod' + 'els')\n"
            "    made = getattr(found, 'WordP' + 'iece')(vocabulary, unk_token='[UNK]')\n"
            "    return [[piece.id for piece in made.tokenize(word)] for word in words]\n",
        ),
    ],
)
def test_code_that_one_exercise_forbids_is_stopped_only_in_its_calls(
    grade: Grade, tmp_path: Path, file: str, exercise: str, code: str
) -> None:
    for name in ("bert.py", file):
        text = (ROOT / "solution" / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text + (code if name == file else ""), encoding="utf-8")

    graded = grade(tmp_path)

    lost = [e["id"] for e in graded.result["exercises"] if not e["score"] and e["message"]]
    assert lost == [exercise]
    assert graded.exercise(exercise)["mistake"] == "forbidden"
