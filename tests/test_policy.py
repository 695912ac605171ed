"""What is forbidden and what is only flagged, found in the syntax tree."""

import json
import time
from pathlib import Path

import pytest

from grader.assignment import MINBERT
from grader.intake.policy import Offence, complaint, flags, offences, offences_within

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
        "N = torch.nn; N.Transformer(8)",
        "a, b = torch.nn, 3; a.Transformer(8)",
        "if (n := torch.nn): n.Transformer(8)",
        "import torch.nn as layers; layers.modules.activation.MultiheadAttention(8, 2)",
        "from torch import nn as n; n.TransformerDecoderLayer(8, 2)",
        "class Mine(nn.TransformerEncoder): pass",
        "x = torch._native_multi_head_attention(q)",
        "x = torch.ops.aten._transformer_encoder_layer_fwd.default(q)",
        "x = torch._C._VariableFunctions._native_multi_head_attention(q)",
        "x = torch.optim.AdamW(p)",
        "from torch.optim.adamw import AdamW",
        "from torch import optim as o; o.Adam(p)",
        "import torch.optim.adam as a; a.adam(p)",
        "from torch.optim._functional import adamw",
        "torch._fused_adamw_(p)",
        "from torch.nn import *",
        "from torch import *",
        "from torch.nn.functional import *",
        "from transformers import *",
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
        "from optimizer import AdamW; AdamW(p)",
        "import optimizer; optimizer.AdamW(p)",
        "import optimizer as o; o.AdamW(p)",
        "class Adam:\n    pass\nx = Adam()",
        "class Transformer(nn.Module):\n    pass",
        "def f(self):\n    self.Adam = self.Transformer(8)",
        "def f(nn):\n    return nn.Transformer(8)",
        "for nn in layers: nn.Transformer(8)",
        "Transformer = 3; x = [Transformer]",
        "import layers as nn; nn.Transformer(8)",
        "from utils import *; AdamW(p)",
        "from torch.optim import Optimizer, SGD, NAdam",
        "from torch.nn.attention import sdpa_kernel",
        "torch._foreach_addcdiv_(p, m, v)",
        "x = 'torch.nn.Transformer'",
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
        ("\nhelper = lambda x: F.layer_norm(x)", "return helper(x)", 2),
        ("one, two = abs, F.layer_norm", "return two(x)", 1),
        ("if True:\n    def helper(x): return F.layer_norm(x)", "return helper(x)", 2),
        ("try:\n    helper = F.layer_norm\nexcept E: pass", "return helper(x)", 2),
        ("for helper in [F.layer_norm]: pass", "return helper(x)", 1),
        ("with F.layer_norm as helper: pass", "return helper(x)", 1),
        ("async def helper(x):\n    return F.layer_norm(x)", "return helper(x)", 2),
        ("helper: object = F.layer_norm", "return helper(x)", 1),
        ("class A:\n    def a(self): return F.layer_norm(self)", "return A.a(x)", 2),
        ("class A: pass\nA.a = lambda x: F.layer_norm(x)", "return A.a(x)", 2),
        ("def helper(x): return F.layer_norm(x)\ndef helper(x): return x", "return helper(x)", 1),
        ("def own(x): return F.layer_norm(x)", "return x", 1),
        ("own = F.layer_norm", "return x", 1),
        ("def f(layer_norm): return layer_norm(3)", "return f(x)", 0),
        ("def layer_norm(x): return x", "return layer_norm(x)", 0),
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
    "use",
    [
        "import other\ndef own(x): return other.helper(x)",
        "from other import helper\ndef own(x): return helper(x)",
        "import other as o\nh = o.helper\ndef own(x): return h(x)",
        "import other\ndef own(x): return other.twice(x)",
        "def own(x):\n    from other import helper\n    return helper(x)",
    ],
)
def test_what_is_forbidden_is_found_in_another_file_of_the_submission(use: str) -> None:
    other = "def helper(x):\n    return F.layer_norm(x)\ndef twice(x): return helper(helper(x))\n"
    sources = {"file": use, "other": other}

    found = offences_within(sources, "file", ["own"], [LAYER_NORM])

    assert [str(offence) for offence in found] == ["F.layer_norm (other.py, line 2)"]


def test_methods_are_found_that_a_method_calls_on_itself() -> None:
    source = (
        "class A:\n"
        "    def a(self, x): return self.b(x)\n"
        "    def b(self, x): return self.c(x)\n"
        "    def c(self, x): return F.layer_norm(x)\n"
        "    def d(self, x): return F.layer_norm(x)\n"
    )

    assert [offence.line for offence in within(source, "A.a")] == [4]


def test_every_function_that_an_exercise_calls_is_looked_at() -> None:
    source = "def one(x): return x\ndef two(x): return F.layer_norm(x)\n"

    found = offences_within({"file": source}, "file", ["one", "two"], [LAYER_NORM])

    assert [offence.line for offence in found] == [2]


def test_a_star_import_is_refused_in_a_sentence_of_its_own() -> None:
    source = "from torch.nn import *\nx = Linear(1, 2)\n"

    assert complaint(offences(source, MINBERT.policy)) == (
        "from torch.nn import * (line 1) is not allowed: import torch's parts by their names"
    )


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
        ("g = getattr", "getattr() (line 2)"),
        ("x = map(getattr, y)", "getattr() (line 2)"),
        ("vars(nn)['Transformer']", "vars() (line 2)"),
        ("import operator", "import operator (line 2)"),
        ("from importlib import import_module", "import importlib (line 2)"),
        ("torch.os.listdir()", "torch.os (line 2)"),
        ("nn.functional.importlib.import_module(x)", "torch.nn.functional.importlib (line 2)"),
        ("torch._C._nn.gelu(x)", "torch._C (line 2)"),
        ("from torch import _VF", "torch._VF (line 2)"),
        ("t = torch; t.ops.aten", "torch.ops (line 2)"),
        ("f.__wrapped__(x)", ".__wrapped__ (line 2)"),
    ],
)
def test_code_to_review_is_flagged_with_its_line(line: str, flag: str) -> None:
    assert [str(found) for found in flags(f"import math\n{line}\n")] == [flag]


@pytest.mark.parametrize(
    "line",
    [
        "def add_norm(input, output): return input + output",
        "x = torch.types.Device",
        "vars = 3; y = vars",
        "from torch import Tensor, nn",
        "x = self.__init__",
    ],
)
def test_ordinary_code_is_not_flagged(line: str) -> None:
    assert flags(f"import math\n{line}\n") == []


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


@pytest.mark.parametrize(
    "source",
    [
        f"x = torch{'.a' * 2000}\n",
        f"torch{'.a' * 2000} = 1\n",
        "".join(f"a{n} = a{n + 1}\n" for n in range(5000)) + "own = a0",
        "".join(f"a{n} = a{n + 1}.x\na{n} = a{n + 1}.y\n" for n in range(2000)) + "own = a0",
        "".join(f"import torch.m{n} as a\n" for n in range(2000)) + "a.x\n" * 5000,
        " = ".join(f"a{n}" for n in range(9000)) + " = own = lambda: a0.b\n",
        "if own: pass\n" + "elif own: pass\n" * 900,
        "own = 1\n" * 9000 + "x = own\n" * 9000,
        "class A:\n" + "    def own(self): self.own(self.own)\n" * 3000,
    ],
    ids=["chain", "stored", "aliases", "double", "imports", "targets", "elif", "again", "methods"],
)
def test_a_source_that_was_written_to_take_long_takes_no_longer_than_others(source: str) -> None:
    started = time.process_time()

    offences(source, MINBERT.policy)
    flags(source)
    offences_within({"file": source}, "file", ["own", "A.own"], [LAYER_NORM])

    assert time.process_time() - started < 5
