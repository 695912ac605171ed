"""Ways round the list of forbidden library code: each works, except where the code is forbidden.

What the whole assignment forbids is tried with and without isolation, what a single exercise
forbids in the calls of that exercise and outside them.
"""

import dataclasses
from collections.abc import Iterator

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.policy import usual_names
from tensormark.sandbox.interface import Reply, Request
from tensormark.sandbox.sandbox import Sandbox
from tensormark.sandbox.tiers import CONTAINED, PROCESS
from testkit.asking import X, program_of_ways
from testkit.tiers import marked
from tests.helpers import ROOT

POLICY = ASSIGNMENT.policy
NAMES = usual_names([*POLICY.forbidden, *POLICY.given_only]).values()
# --- in every call ------------------------------------------------------------------------------

HEAD = """
import builtins, copy, functools, gc, importlib, importlib.util, inspect, io, marshal, pickle
import re, runpy, sys, types
import torch, torch.nn as nn, torch.nn.functional as F, torch.optim, torch.package
import torch.optim.adam, torch.optim.adamw, torch.optim._functional

x = torch.randn(2, 3, 4)
kept, Kept = nn.MultiheadAttention.forward, nn.MultiheadAttention
weights = torch.randn(12, 4), torch.randn(12), torch.randn(4, 4), torch.randn(4)


def heads(function, *more):
    return function(x, x, x, 4, 2, *weights, *more)


def slow(function):
    inputs = x, x, x, 4, 2, *weights[:2], None, None, False, 0.0, *weights[2:]
    return function(*inputs)


def steps(made):
    parameter = nn.Parameter(torch.ones(3))
    parameter.grad = torch.ones(3)
    made([parameter]).step()


def fused(function):
    lists = [[torch.ones(3)] for _ in range(4)]
    rates = {"lr": 0.1, "beta1": 0.9, "beta2": 0.9, "weight_decay": 0.0, "eps": 1e-8}
    return function(*lists, [], [torch.ones(())], **rates, amsgrad=False, maximize=False)


def functional(function):
    lists = [[torch.ones(3)] for _ in range(4)]
    rates = {"beta1": 0.9, "beta2": 0.9, "lr": 0.1, "weight_decay": 0.0, "eps": 1e-8}
    more = {"foreach": False, "amsgrad": False, "maximize": False}
    function(*lists, [], [torch.ones(())], **more, **rates)


def one_by_one(function):
    lists = [[torch.ones(3)] for _ in range(4)]
    rates = {"beta1": 0.9, "beta2": 0.9, "lr": 0.1, "weight_decay": 0.0, "eps": 1e-8}
    ways = "amsgrad has_complex maximize capturable differentiable decoupled_weight_decay"
    more = dict.fromkeys(ways.split(), False) | {"grad_scale": None, "found_inf": None}
    function(*lists, [], [torch.ones(())], **rates, **more)


def forgotten(name):
    module = sys.modules.pop(name)
    try:
        return importlib.import_module(name)
    finally:
        sys.modules[name] = module
        setattr(sys.modules[module.__package__], name.rpartition(".")[2], module)


def anew(module):
    name = f"{module.__package__}.anew"
    spec = importlib.util.spec_from_file_location(name, module.__file__)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def text_of(module):
    return open(module.__file__).read()


def executed(text, name="<text>"):
    made = {"__name__": "executed", "__package__": "torch.nn.modules"}
    exec(compile(text, name, "exec"), made)
    return made


def parts(code):
    found = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return found + [c for part in found for c in parts(part)]


def put_together(module, name):
    code = module.__loader__.get_code(module.__name__)
    found = max((c for c in parts(code) if c.co_name == name), key=lambda c: len(c.co_code))
    return types.FunctionType(found, vars(module), name, getattr(module, name).__defaults__)


def disguised(module, name):
    # a function from a module's compiled file; it and its variables get other names
    code = marshal.loads(open(module.__cached__, "rb").read()[16:])
    found = max((c for c in parts(code) if c.co_name == name), key=lambda c: len(c.co_code))
    kept = found.co_argcount + found.co_kwonlyargcount
    names = [*found.co_varnames[:kept], *(f"v_{v}" for v in found.co_varnames[kept:])]
    called = dict.fromkeys(("co_name", "co_qualname", "co_filename"), "bert")
    found = found.replace(**called, co_varnames=tuple(names))
    made = types.FunctionType(found, {**vars(module), "__name__": "bert"})
    made.__defaults__ = getattr(module, name).__defaults__
    return made


def retold(module, **names):
    text = text_of(module)
    for name, other in names.items():
        text = re.sub(rf"\\b{name}\\b", other, text)
    made = {**vars(module), "__name__": "bert"}
    exec(compile(text, "bert.py", "exec", optimize=2), made)
    return made


def packed(module):
    file = io.BytesIO()
    with torch.package.PackageExporter(file) as exporter:
        exporter.extern("**")
        text = text_of(module).replace("from .", f"from {module.__package__}.")
        exporter.save_source_string("mine", text)
    file.seek(0)
    return torch.package.PackageImporter(file).import_module("mine")


def copied(function):
    return types.FunctionType(function.__code__, function.__globals__)


def put_into(function, module, name):
    function.__defaults__ = getattr(module, name).__defaults__
    function.__code__ = put_together(module, name).__code__
    return function


class Under(nn.MultiheadAttention):
    pass


class Without(nn.MultiheadAttention):
    def __init__(self):
        nn.Module.__init__(self)
        self.embed_dim, self.num_heads, self.dropout, self.head_dim = 4, 2, 0.0, 2
        self._qkv_same_embed_dim, self.batch_first = True, True
        self.bias_k = self.bias_v = None
        self.add_zero_attn = False
        self.in_proj_weight, self.in_proj_bias = map(nn.Parameter, weights[:2])
        self.out_proj = nn.Linear(4, 4)


class Borrowed(nn.Module):
    __init__ = Without.__init__
    forward = nn.MultiheadAttention.forward
    merge_masks = nn.MultiheadAttention.merge_masks

"""
WAYS = {
    # names of the class
    "its name": "nn.MultiheadAttention(4, 2)(x, x, x)",
    "its own module": "nn.modules.activation.MultiheadAttention(4, 2)",
    "computed name": "getattr(nn, 'Multihead' + 'Attention')(4, 2)",
    "kept since the import": "Kept(4, 2)",
    "found among subclasses": "[c for c in nn.Module.__subclasses__() if c is Kept][0](4, 2)",
    "pickle": "pickle.loads(b'ctorch.nn\\nMultiheadAttention\\n.')(4, 2)",
    # parts of the class
    "subclass": "Under(4, 2)",
    "subclass without its constructor": "Without()(x, x, x)",
    "borrowed methods": "Borrowed()(x, x, x)",
    "a copy of the class": "type('C', (nn.Module,), dict(vars(Without) | vars(Kept), "
    "__init__=Without.__init__))()(x, x, x)",
    "a method kept since the import": "kept(Without(), x, x, x)",
    "copied method": "copy.copy(nn.MultiheadAttention.forward)(Without(), x, x, x)",
    "loaded under another name": "anew(nn.modules.activation).MultiheadAttention(4, 2)(x, x, x)",
    "loaded from its compiled file": "importlib.machinery.SourcelessFileLoader("
    "'torch.nn.modules.anew', nn.modules.activation.__cached__).load_module()"
    ".MultiheadAttention(4, 2)",
    "run as a script": "runpy._run_code(nn.modules.activation.__loader__.get_code("
    "'torch.nn.modules.activation'), {}, None, 'torch.nn.modules.anew', None, 'torch.nn.modules')"
    "['MultiheadAttention'](4, 2)",
    "its text": "executed(text_of(nn.modules.activation))['MultiheadAttention'](4, 2)(x, x, x)",
    "its text under a student's name": "executed(text_of(nn.modules.activation), 'bert.py')"
    "['MultiheadAttention'](4, 2)(x, x, x)",
    "its text by inspect": "executed(inspect.getsource(nn.modules.activation))"
    "['MultiheadAttention'](4, 2)",
    "code from the file": "slow(put_together(F, 'multi_head_attention_forward'))",
    "code put into another function": "slow(put_into(copied(F.mish), F, "
    "'multi_head_attention_forward'))",
    "its compiled file, with other names": "slow(disguised(F, 'multi_head_attention_forward'))",
    "its text, with other names": "retold(nn.modules.activation, MultiheadAttention='Mine', "
    "is_batched='b', any_nested='n', tensor_args='args')['Mine'](4, 2)(x, x, x)",
    "its text from a package": "packed(nn.modules.activation).MultiheadAttention(4, 2)(x, x, x)",
    "its text without assertions": "made = compile(text_of(nn.modules.activation), 'x', 'exec', "
    "optimize=2); exec(made, {'__name__': 'x', '__package__': 'torch.nn.modules'})",
    "without what imports are found by": "sys.meta_path[:] = [f for f in sys.meta_path "
    "if hasattr(f, 'invalidate_caches')]; forgotten('torch.nn.modules.activation')",
    "forgotten and imported as a whole": "forgotten('torch.nn.modules.transformer')"
    ".TransformerEncoderLayer(4, 2, 8)(x)",
    "encoder layer from its file": "anew(nn.modules.transformer)"
    ".TransformerEncoderLayer(4, 2, 8)(x)",
    "found among all objects": "gc.unfreeze(); [c for c in gc.get_objects() "
    "if isinstance(c, type) and c.__name__ == 'MultiheadAttention' "
    "and c.__module__ == 'torch.nn.modules.activation'][0](4, 2)",
    "imported again": "importlib.reload(nn.modules.activation).MultiheadAttention(4, 2)",
    "forgotten and imported": "forgotten('torch.nn.modules.activation').MultiheadAttention(4, 2)",
    # compiled anew
    "traced": "torch.jit.trace(lambda x: heads(torch._native_multi_head_attention)[0], (x,), "
    "check_trace=False)(x)",
    "functional transform": "torch.func.vmap("
    "lambda _: heads(torch._native_multi_head_attention)[0])(torch.ones(1))",
    # other layers
    "encoder layer": "nn.TransformerEncoderLayer(4, 2, 8)(x)",
    "decoder layer": "nn.modules.transformer.TransformerDecoderLayer(4, 2, 8)(x, x)",
    "whole model": "nn.Transformer(4, 2, 1, 1, 8)(x, x)",
    "quantizable": "torch.ao.nn.quantizable.MultiheadAttention(4, 2)(x, x, x)",
    # functions
    "function": "slow(F.multi_head_attention_forward)",
    "compiled": "heads(torch._native_multi_head_attention)",
    "operator": "heads(torch.ops.aten._native_multi_head_attention)",
    "overload of the operator": "heads(torch.ops.aten._native_multi_head_attention.default)",
    "table of functions": "heads(torch._C._VariableFunctions._native_multi_head_attention)",
    "table's class": "heads(type(torch._C._VariableFunctions)._native_multi_head_attention)",
    "another table": "heads(torch._VF._native_multi_head_attention)",
    "operator by its name": "heads(torch._C._jit_get_operation("
    "'aten::_native_multi_head_attention')[0])",
    "encoder layer, compiled": "torch._transformer_encoder_layer_fwd(x, 4, 2, *weights, False, "
    "False, 1e-5, *[torch.ones(4)] * 4, torch.ones(8, 4), torch.ones(8), torch.ones(4, 8), "
    "torch.ones(4))",
    "heads, compiled": "torch._transform_bias_rescale_qkv(torch.randn(2, 3, 12), weights[1], 2)",
    "exchange format": "torch.onnx.ops.attention(x, x, x, q_num_heads=2, kv_num_heads=2)",
    "exchange format's operator": "torch.ops.onnx.Attention.opset23("
    "x, x, x, q_num_heads=2, kv_num_heads=2)",
    # optimizers
    "optimizer": "steps(torch.optim.AdamW)",
    "optimizer without decay": "steps(torch.optim.Adam)",
    "optimizer that becomes Adam's": "steps(torch.optim.RAdam)",
    "subclass of an optimizer": "steps(type('Mine', (torch.optim.AdamW,), {}))",
    "fused optimizer": "steps(functools.partial(torch.optim.AdamW, fused=True))",
    "functional": "functional(torch.optim._functional.adamw)",
    "function of the module": "from torch.optim import adamw; functional(adamw.adamw)",
    "undecorated function": "functional(torch.optim._functional.adam.__wrapped__)",
    "fused step": "fused(torch._fused_adamw_)",
    "fused step, operator": "fused(torch.ops.aten._fused_adamw_)",
    "fused step that returns": "fused(torch.ops.aten._fused_adamw)",
    "fused step by table": "fused(torch._C._VariableFunctions._fused_adam_)",
    "optimizer from its file": "steps(anew(sys.modules['torch.optim.adam']).Adam)",
    "step from its compiled file, with other names": "one_by_one(disguised("
    "sys.modules['torch.optim.adam'], '_single_tensor_adam'))",
    "step from its text, with other names": "one_by_one(retold(sys.modules['torch.optim.adam'], "
    "_single_tensor_adam='mine', exp_avg='m', exp_avg_sq='v', denom='d')['mine'])",
    "function from its file": "functional(anew(sys.modules['torch.optim.adam']).adam)",
}
# torch's compilers have their own messages for forbidden code that they cannot compile
COMPILED = {
    "compiled for another backend": "torch.compile(lambda x: heads("
    "torch._native_multi_head_attention)[0], backend='eager')(x)",
    "script": "torch.jit.script(F.multi_head_attention_forward)",
    "distributed optimizer": "from torch.distributed.optim import _FunctionalAdamW as A; "
    "p = nn.Parameter(torch.ones(3)); A([p]).step([torch.ones(3)])",
}
FREE = {
    "attention function": "F.scaled_dot_product_attention(given[None], given[None], given[None])",
    "norm": "nn.LayerNorm(2)(given); F.layer_norm(given, (2,))",
    "another optimizer": "steps(torch.optim.SGD)",
    "an optimizer with other steps": "steps(torch.optim.NAdam)",
    "elementwise operations": "torch._foreach_addcdiv_([given], [given], [given], value=-1.0)",
    "another module again": "importlib.reload(sys.modules['torch.nn.modules.linear'])",
    "names": "nn.MultiheadAttention, nn.Transformer.forward, torch._native_multi_head_attention",
    "a subclass that nobody makes": "type('Own', (nn.TransformerEncoder,), {})",
    "imports": "from torch.nn import MultiheadAttention; from torch.optim import AdamW",
    "text of the library": "text_of(nn.modules.activation); inspect.getsource(nn.Linear)",
    "another file anew": "anew(nn.modules.linear).Linear(2, 2)(given)",
    "scripts": "torch.jit.script(nn.GELU())(given)",
    "comparison of types": "assert not isinstance(nn.Linear(1, 1), nn.MultiheadAttention)",
}


# --- in the calls of one exercise ---------------------------------------------------------------

HERE_HEAD = """
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
FREE_HERE = {
    "statistics": "torch.var_mean(rows, -1); rows.std(); torch.linalg.norm(rows)",
    "names": "nn.LayerNorm, F.layer_norm, torch.native_layer_norm",
    "imports": "import tokenizers; from tokenizer import BertTokenizer",
    "parts of the other": "from tokenizers import normalizers; normalizers.Lowercase()",
}
WAYS_HERE = {
    **{("layer_norm", name): body for name, body in NORMS.items()},
    **{("wordpiece", name): body for name, body in PIECES.items()},
    **{("causal_mask", name): body for name, body in MASKS.items()},
}


def ask(sandbox: Sandbox, number: int, exercise: str = "") -> Reply:
    """Call a way, as an exercise would."""
    call = ASSIGNMENT.exercise("sinusoidal_positions").calls[0].message() | {
        "module": "main",
        "target": f"way_{number}",
        "args": ["x"],
        "literals": {},
    }
    names = ASSIGNMENT.exercise(exercise).forbidden if exercise else ()
    request = Request(f"{exercise} {number}", frozenset(), call, {"x": X}, forbidden=names)
    (reply,) = sandbox.run([request])
    return reply


PROGRAM = program_of_ways(HEAD, [*WAYS.values(), *COMPILED.values(), *FREE.values()], "given")
GUARDED = dataclasses.replace(PROGRAM, policy=POLICY)


@pytest.fixture(scope="module")
def unguarded() -> Iterator[Sandbox]:
    with Sandbox(PROCESS, PROGRAM) as sandbox:
        yield sandbox


@pytest.fixture(scope="module", params=marked((PROCESS, CONTAINED)))
def guarded(request) -> Iterator[Sandbox]:
    with Sandbox(request.param, GUARDED) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def here() -> Iterator[Sandbox]:
    made = program_of_ways(HERE_HEAD, [*WAYS_HERE.values(), *FREE_HERE.values()], "given")
    program = dataclasses.replace(made, requirements=ASSIGNMENT.requirements)
    text = (ROOT / "starter" / "tokenizer.py").read_text("utf-8")
    program.sources["tokenizer"] = text  # type: ignore[index]
    with Sandbox(PROCESS, program) as sandbox:
        yield sandbox


def test_ways_work_where_nothing_is_forbidden(unguarded: Sandbox) -> None:
    names = [*WAYS, *COMPILED]

    assert [n for at, n in enumerate(names) if ask(unguarded, at).status != "ok"] == []


@pytest.mark.parametrize("number", range(len(WAYS)), ids=list(WAYS))
def test_a_way_is_stopped_where_code_is_forbidden(guarded: Sandbox, number: int) -> None:
    reply = ask(guarded, number)

    assert reply.status == "error"
    assert reply.message["forbidden"] in NAMES


def test_other_code_works_and_what_torch_would_compile_is_stopped(guarded: Sandbox) -> None:
    statuses = [ask(guarded, len(WAYS) + at).status for at in range(len(COMPILED) + len(FREE))]

    assert statuses == ["error"] * len(COMPILED) + ["ok"] * len(FREE)


@pytest.mark.parametrize("way", WAYS_HERE, ids=": ".join)
def test_a_way_is_stopped_in_the_calls_of_its_exercise_only(
    here: Sandbox, way: tuple[str, str]
) -> None:
    number = list(WAYS_HERE).index(way)
    exercise = way[0]

    during = ask(here, number, exercise)
    after = ask(here, number)

    assert after.status == "ok"
    names = usual_names(ASSIGNMENT.exercise(exercise).forbidden).values()
    assert during.message.get("forbidden") in names, during.text


@pytest.mark.parametrize("exercise", ["layer_norm", "wordpiece"])
def test_what_an_exercise_does_not_forbid_still_works(here: Sandbox, exercise: str) -> None:
    numbers = range(len(WAYS_HERE), len(WAYS_HERE) + len(FREE_HERE))

    assert [ask(here, number, exercise).status for number in numbers] == ["ok"] * len(FREE_HERE)
