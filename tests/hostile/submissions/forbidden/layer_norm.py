# tries: let torch normalize a layer, also by what was kept from before the exercise forbids it
# file: transformer.py
# loses: layer_norm
# control: leaks
import types

from torch._decomp import decomposition_table, decompositions
from torch.fx.experimental.proxy_tensor import make_fx

aten = torch.ops.aten
kept, code, Kept, method = F.layer_norm, F.layer_norm.__code__, nn.LayerNorm, nn.LayerNorm.forward
rows, one, two = torch.randn(1, 6, 8), torch.ones(8), torch.zeros(8)
means, spreads = torch.zeros(6), torch.ones(6)
itself = types.SimpleNamespace(normalized_shape=[8], weight=one, bias=two, eps=1e-12)


def norm(x):
    return torch.layer_norm(x, [8], one, two, 1e-12)


def quantized(function):
    whole = torch.quantize_per_tensor(rows, 1e-7, 0, torch.qint32)
    return function(whole, [8], one, two, 1e-12, 1e-7, 0)


WAYS = """
F.layer_norm(rows, (8,))
kept(rows, (8,))
types.FunctionType(code, vars(F), '', (None, None, 1e-5))(rows, (8,))
Kept(8)(rows)
method(itself, rows)
nn.BatchNorm3d(6)(rows[..., None, None])
nn.LazyBatchNorm1d()(rows)
norm(rows)
norm(torch.nested.nested_tensor([*rows]))
aten.native_layer_norm(rows, [8], one, two, 1e-12)
aten.layer_norm.default.decompose(rows, [8], one, two, 1e-12)
decomposition_table[aten.native_layer_norm.default](rows, [8], one, two, 1e-12)
decompositions.native_batch_norm_helper(rows, *4 * [None], True, 0.1, 1e-12, False)
decompositions._fused_rms_norm(rows, [8], one, 1e-12)
aten._batch_norm_with_update(rows, None, None, means, spreads, 0.1, 1e-12)
quantized(torch.ops.quantized.layer_norm)
torch.jit.trace(norm, (rows,))(rows)
make_fx(norm)(rows)
torch.vmap(norm)(rows)
torch.func.jvp(norm, (rows,), (rows,))
torch._C._jit_get_operation('aten::native_layer_norm')[0](rows, [8], one, two, 1e-12)
"""


def layer_norm(x, gain, bias, eps=1e-12):
    tried(WAYS)
