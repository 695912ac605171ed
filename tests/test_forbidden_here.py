"""Ways to code that one exercise forbids: each works, except in the calls of that exercise."""

import dataclasses
from collections.abc import Iterator

import pytest

from asking import program_with
from grader.assignment import ASSIGNMENT
from tensormark.policy import usual_names
from tensormark.sandbox.interface import Sandbox
from tensormark.sandbox.tiers import open_sandbox
from tests.helpers import ROOT
from tests.helpers.ways_round import ask, code

HEAD = """
import types
import torch
import torch._dynamo
import torch.nn as nn, torch.nn.functional as F
from torch._decomp import decompositions, decomposition_table
from torch.fx.experimental.proxy_tensor import make_fx

aten = torch.ops.aten
kept, code, Kept = F.layer_norm, F.layer_norm.__code__, nn.LayerNorm
rows, one, two = torch.randn(1, 6, 8), torch.ones(8), torch.zeros(8)
means, spreads = torch.zeros(6), torch.ones(6)
vocabulary = {"[UNK]": 0, "[PAD]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4, "a": 5}


def norm(x):
    return torch.layer_norm(x, [8], one, two, 1e-12)


class Norm(nn.Module):
    def forward(self, x):
        return norm(x)


def quantized(function):
    whole = torch.quantize_per_tensor(rows, 1e-7, 0, torch.qint32)
    return function(whole, [8], one, two, 1e-12, 1e-7, 0)

"""
NORMS = {
    "its name": "F.layer_norm(rows, (8,))",
    "kept since the import": "kept(rows, (8,))",
    "code kept since the import": "types.FunctionType(code, vars(F), '', (None, None, 1e-5))"
    "(rows, (8,))",
    "module": "Kept(8)(rows)",
    "another norm's module": "nn.BatchNorm3d(6)(rows[..., None, None])",
    "lazy module": "nn.LazyBatchNorm1d()(rows)",
    "compiled": "norm(rows)",
    "operator": "aten.native_layer_norm(rows, [8], one, two, 1e-12)",
    "its decomposition": "aten.layer_norm.default.decompose(rows, [8], one, two, 1e-12)",
    "table of decompositions": "decomposition_table[aten.native_layer_norm.default]"
    "(rows, [8], one, two, 1e-12)",
    "operator for training": "aten._batch_norm_with_update(rows, None, None, means, spreads, "
    "0.1, 1e-12)",
    "operator without a state": "aten._native_batch_norm_legit_functional(rows, None, None, means, "
    "spreads, True, 0.1, 1e-12)",
    "part of a decomposition": "decompositions.native_batch_norm_helper(rows, None, None, None, "
    "None, True, 0.1, 1e-12, False)",
    "root of a mean": "decompositions._fused_rms_norm(rows, [8], one, 1e-12)",
    "quantized": "quantized(torch.ops.quantized.layer_norm)",
    "traced": "torch.jit.trace(norm, (rows,))(rows)",
    "graph": "make_fx(norm)(rows)",
    "exported": "torch.export.export(Norm(), (rows,)).run_decompositions().module()(rows)",
    "mapped": "torch.vmap(norm)(rows)",
    "with a derivative": "torch.func.jvp(norm, (rows,), (rows,))",
    "functional": "torch.func.functionalize(norm)(rows)",
    "another memory format": "a, b, m, v = (t.to_mkldnn() for t in "
    "(torch.ones(6), torch.zeros(6), means, spreads)); "
    "torch.native_batch_norm(torch.ones(1, 6, 8, 1).to_mkldnn(), a, b, m, v, False, 0.1, 1e-12)",
    "nested": "norm(torch.nested.nested_tensor([*rows]))",
    "found by its operator": "torch._C._jit_get_operation('aten::native_layer_norm')[0]"
    "(rows, [8], one, two, 1e-12)",
}
PIECES = {
    "imported in the call": "import tokenizers; "
    "tokenizers.models.WordPiece(vocabulary, unk_token='[UNK]').tokenize('a')",
    "given function": "import tokenizer; tokenizer.wordpiece(vocabulary)",
    "given class": "from unittest.mock import MagicMock; "
    "from tokenizer import BertTokenizer as B; B(MagicMock())",
    "another model's method": "from tokenizers.models import BPE; BPE({'a': 0}, []).tokenize('a')",
    "whole tokenizer": "from tokenizers import Tokenizer, models; "
    "Tokenizer(models.WordLevel({'a': 0}, unk_token='a')).encode('a')",
    "ready-made tokenizer": "from tokenizers import BertWordPieceTokenizer as B; "
    "B(vocabulary).encode('a')",
}
MASKS = {
    "torch's mask": "nn.Transformer.generate_square_subsequent_mask(3)",
    "the function of its module": "nn.modules.transformer._generate_square_subsequent_mask(3)",
}
FREE = {
    "statistics": "torch.var_mean(rows, -1); rows.std(); torch.linalg.norm(rows)",
    "names": "nn.LayerNorm, F.layer_norm, torch.native_layer_norm",
    "imports": "import tokenizers; from tokenizer import BertTokenizer",
    "parts of the other": "from tokenizers import normalizers; normalizers.Lowercase()",
}
WAYS = {
    **{("layer_norm", name): body for name, body in NORMS.items()},
    **{("wordpiece", name): body for name, body in PIECES.items()},
    **{("causal_mask", name): body for name, body in MASKS.items()},
}
CODE = code(HEAD, [*WAYS.values(), *FREE.values()])


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    program = dataclasses.replace(program_with(CODE), requirements=ASSIGNMENT.requirements)
    text = (ROOT / "starter" / "tokenizer.py").read_text(encoding="utf-8")
    program.sources["tokenizer"] = text  # type: ignore[index]
    with open_sandbox("process", program) as opened:
        yield opened


@pytest.mark.parametrize("way", WAYS, ids=": ".join)
def test_a_way_is_stopped_in_the_calls_of_its_exercise_only(
    sandbox: Sandbox, way: tuple[str, str]
) -> None:
    number = list(WAYS).index(way)
    exercise = way[0]

    during = ask(sandbox, number, exercise)
    after = ask(sandbox, number)

    assert after.status == "ok"
    names = usual_names(ASSIGNMENT.exercise(exercise).forbidden).values()
    assert during.message.get("forbidden") in names, during.text


@pytest.mark.parametrize("name", FREE)
@pytest.mark.parametrize("exercise", ["layer_norm", "wordpiece"])
def test_what_is_not_forbidden_still_works(sandbox: Sandbox, name: str, exercise: str) -> None:
    assert ask(sandbox, len(WAYS) + list(FREE).index(name), exercise).status == "ok"
