"""Flags: what a person is asked to look at, found in the syntax tree."""

import json
import time
from pathlib import Path

import pytest

from tensormark.intake.flags import flags

import toy
from graded import Grade


@pytest.mark.parametrize(
    ("line", "flag"),
    [
        ("import os", "import os"),
        ("from subprocess import run", "import subprocess"),
        ("import os.path as p", "import os.path"),
        ("import numpy, ctypes", "import ctypes"),
        ("open('x')", "open()"),
        ("eval('1')", "eval()"),
        ("torch.load('x')", "torch.load"),
        ("from torch import load", "torch.load"),
        ("f.__globals__", ".__globals__"),
        ("sys._getframe()", "._getframe"),
        ("getattr(x, y)", "getattr()"),
        ("from tensormark.worker import calls", "import tensormark.worker"),
        ("g = getattr", "getattr()"),
        ("x = map(getattr, y)", "getattr()"),
        ("vars(nn)['Transformer']", "vars()"),
        ("import operator", "import operator"),
        ("from importlib import import_module", "import importlib"),
        ("torch.os.listdir()", "torch.os"),
        ("nn.functional.importlib.import_module(x)", "torch.nn.functional.importlib"),
        ("torch._C._nn.gelu(x)", "torch._C"),
        ("from torch import _VF", "torch._VF"),
        ("t = torch; t.ops.aten", "torch.ops"),
        ("import random as r; r._os", "random._os"),
        ("import dataclasses; dataclasses.sys", "dataclasses.sys"),
        ("import tokenizers", "import tokenizers"),
        ("from tokenizers.models import WordPiece", "import tokenizers.models"),
        # ways round a prohibition that nothing stops
        ("exec(text)", "exec()"),
        ("compile(text, 'x', 'exec')", "compile()"),
        ("import inspect", "import inspect"),
        ("import gc", "import gc"),
        ("import timeit", "import timeit"),
        ("from fileinput import input as lines", "import fileinput"),
        ("import logging", "import logging"),
        ("import string", "import string"),
        ("np.__file__", ".__file__"),
        ("import ctypes", "import ctypes"),
        ("import linecache", "import linecache"),
        ("f().__loader__", ".__loader__"),
        ("f.__code__", ".__code__"),
        ("x.meta_path", ".meta_path"),
        ("torch.from_file('x')", "torch.from_file"),
        ("torch.compile(f)", "torch.compile"),
        ("torch.jit.script(f)", "torch.jit"),
        ("import torch.fx as fx; fx.wrap", "torch.fx"),
        ("from torch.export import export", "torch.export"),
        ("from torch._decomp import decompositions", "torch._decomp"),
        ("f.__wrapped__(x)", ".__wrapped__"),
    ],
)
def test_code_to_review_is_flagged_with_its_line(line: str, flag: str) -> None:
    matches = flags(f"import math\n{line}\n", ("tokenizers",))

    assert [(match.name, match.line) for match in matches] == [(flag, 2)]


@pytest.mark.parametrize(
    "line",
    [
        "def add_norm(input, output): return input + output",
        "x = torch.types.Device",
        "import numpy; numpy.random.rand()",
        "import collections.abc; collections.abc.Callable",
        "def f(self): return self.io + self.types",
        "vars = 3; y = vars",
        "from torch import Tensor, nn",
        "x = self.__init__",
    ],
)
def test_ordinary_code_is_not_flagged(line: str) -> None:
    assert flags(f"import math\n{line}\n") == []


@pytest.mark.parametrize("place", ["solution", "starter"])
def test_the_solution_and_the_starter_have_no_flags(folder: Path, place: str) -> None:
    text = (folder / place / toy.MAIN).read_text(encoding="utf-8")

    assert flags(text) == []


def test_flags_are_in_the_result_and_cost_nothing(
    grade: Grade, tmp_path: Path, solution_source: str
) -> None:
    path = tmp_path / toy.MAIN
    path.write_text(f"import os\n{solution_source}", encoding="utf-8")

    graded = grade(path)

    assert graded.result["flags"] == [f"{toy.MAIN}:1: import os"]
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
def test_a_source_that_was_written_to_take_long_takes_less_than_five_seconds(source: str) -> None:
    start = time.process_time()

    flags(source)

    assert time.process_time() - start < 5
