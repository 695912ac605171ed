"""What is forbidden and what is only flagged, found in the syntax tree."""

import json
from pathlib import Path

import pytest

from grader.assignment import MINBERT
from grader.intake.policy import Offence, flags, offences, offences_within

from conftest import ROOT, Grade


@pytest.mark.parametrize(
    "line",
    [
        "import transformers",
        "from transformers import BertModel",
        "import transformers.models.bert as b",
        "from torch.nn import MultiheadAttention as M",
        "x = torch.nn.MultiheadAttention(8, 2)",
        "x = nn.TransformerEncoderLayer(8, 2)",
        "from torch.nn.functional import multi_head_attention_forward",
        "x = F.multi_head_attention_forward()",
        "def f():\n    from sentence_transformers import SentenceTransformer",
    ],
)
def test_what_the_handout_forbids_is_found(line: str) -> None:
    assert len(offences(f"import torch\n{line}\n", MINBERT.policy)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "x = F.scaled_dot_product_attention(q, k, v)",
        "x = nn.LayerNorm(8)",
        "from torch.nn import functional as F",
        "# nn.MultiheadAttention",
        "'import transformers'",
        "from mytransformers import x",
        "from .transformers import x",
    ],
)
def test_what_the_handout_allows_is_no_offence(line: str) -> None:
    assert offences(f"{line}\n", MINBERT.policy) == []


LAYER_NORM = "torch.nn.functional.layer_norm"


def within(source: str, target: str, *forbidden: str) -> list[Offence]:
    """Find what is forbidden in one function of a file."""
    return offences_within({"file": source}, "file", [target], forbidden or [LAYER_NORM])


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("return F.layer_norm(x)", 6),
        ("return layer_norm_of_torch(x)", 6),
        ("return nn.functional.layer_norm(x)", 6),
        ("from torch import layer_norm as f; return f(x)", 6),
        ("return x", 0),
    ],
)
def test_what_one_exercise_forbids_is_looked_for_in_its_own_function(body: str, line: int) -> None:
    source = (
        "from torch.nn.functional import layer_norm as layer_norm_of_torch\n"
        "class Another:\n"
        "    def layer_norm(self, x):\n"
        "        return F.layer_norm(x)\n"
        f"def own(x):\n    {body}\n"
    )

    found = within(source, "own")

    assert {offence.line for offence in found} == ({line} if line else set())
    assert all(str(offence).startswith("F.layer_norm (line ") for offence in found)
    assert within(source, "Another.layer_norm")[0].line == 4
    assert within(source, "missing") == []


@pytest.mark.parametrize(
    ("head", "body", "found"),
    [
        ("from tokenizer import BertTokenizer", "BertTokenizer(x)", ["tokenizer.BertTokenizer"]),
        ("from tokenizer import BertTokenizer as B", "B(x)", ["tokenizer.BertTokenizer"]),
        ("import tokenizer as t", "t.BertTokenizer(x)", ["tokenizer.BertTokenizer"]),
        ("import tokenizers", "tokenizers.Tokenizer(x)", ["tokenizers"]),
        ("import tokenizers.models as m", "m.WordPiece(x)", ["tokenizers"]),
        ("from tokenizers.models import WordPiece as W", "W(x)", ["tokenizers"]),
        ("", "import tokenizers.models", ["tokenizers"]),
        ("", "from tokenizers import models", ["tokenizers"]),
        ("from tokenizer import BertTokenizer", "x", []),
        ("import tokenizers", "own(x)", []),
    ],
)
def test_what_one_exercise_forbids_may_come_from_any_module(
    head: str, body: str, found: list[str]
) -> None:
    source = f"{head}\ndef own(x):\n    {body}\n"

    offences = within(source, "own", "tokenizer.BertTokenizer", "tokenizers")

    assert [str(offence) for offence in offences] == [f"{name} (line 3)" for name in found]


@pytest.mark.parametrize(
    ("head", "body", "line"),
    [
        ("def helper(x):\n    return F.layer_norm(x)", "return helper(x)", 2),
        ("def helper(x):\n    return F.layer_norm(x)", "return x", 0),
        ("def far(x): return F.layer_norm(x)\ndef near(x): return far(x)", "return near(x)", 1),
        ("def odd(x): return even(x)\ndef even(x): return odd(x)", "return odd(x) + own(x)", 0),
        ("\nalias = F.layer_norm", "return alias(x)", 2),
        ("\nclass Norm:\n    norm = nn.LayerNorm", "return Norm(x)", 3),
    ],
)
def test_what_is_forbidden_is_not_for_helpers_either(head: str, body: str, line: int) -> None:
    source = f"{head}\ndef own(x):\n    {body}\n"

    found = within(source, "own", LAYER_NORM, "torch.nn.LayerNorm")

    assert [offence.line for offence in found] == ([line] if line else [])


@pytest.mark.parametrize(
    ("line", "flag"),
    [
        ("import os", "import os (line 2)"),
        ("from subprocess import run", "import subprocess (line 2)"),
        ("import os.path as p", "import os.path (line 2)"),
        ("import numpy, ctypes", "import ctypes (line 2)"),
        ("open('x')", "open() (line 2)"),
        ("eval('1')", "eval() (line 2)"),
        ("torch.load('x')", "torch.load (line 2)"),
        ("from torch import load", "torch.load (line 2)"),
        ("f.__globals__", ".__globals__ (line 2)"),
        ("sys._getframe()", "._getframe (line 2)"),
        ("getattr(x, y)", "getattr() (line 2)"),
        ("from grader.worker import calls", "import grader.worker (line 2)"),
    ],
)
def test_code_to_review_is_flagged_with_its_line(line: str, flag: str) -> None:
    assert [str(found) for found in flags(f"import math\n{line}\n")] == [flag]


@pytest.mark.parametrize("file", ["solution/bert.py", "starter/bert.py"])
def test_the_given_code_has_no_flag(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")

    assert flags(text) == offences(text, MINBERT.policy) == []


def test_flags_are_in_the_result_and_cost_nothing(
    grade: Grade, tmp_path: Path, solution_source: str
) -> None:
    path = tmp_path / "bert.py"
    path.write_text(f"import os\n{solution_source}", encoding="utf-8")

    graded = grade(path)

    assert graded.result["flags"] == ["bert.py:1: import os"]
    assert graded.result["score"] == graded.result["max_score"]
    assert "import os" not in graded.output, json.dumps(graded.output)
