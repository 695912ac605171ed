# tries: use what is near to forbidden code, and name that without calling it
# loses: nothing
import importlib
import inspect
import sys

from torch.nn import MultiheadAttention
from torch.optim import AdamW


def embed(self, input_ids, *more):
    values, parameter = torch.ones(2, 3, 4), nn.Parameter(torch.ones(3))
    F.scaled_dot_product_attention(values, values, values)
    nn.LayerNorm(4)(values)
    parameter.grad = torch.ones(3)
    for optimizer in (torch.optim.SGD, torch.optim.NAdam):
        optimizer([parameter]).step()
    names = nn.Transformer.forward, torch._native_multi_head_attention, AdamW.step
    type("Own", (nn.TransformerEncoder,), {})
    assert not isinstance(names, MultiheadAttention)
    importlib.reload(sys.modules["torch.nn.modules.linear"])
    inspect.getsource(nn.modules.activation)
    torch.jit.script(nn.GELU())(values)
    return right(self, input_ids, *more)
