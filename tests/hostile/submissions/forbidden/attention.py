# tries: call torch's own attention, by every name that leads to it
# loses: embed
# control: leaks
import copy
import gc
import pickle

import torch.onnx

x = torch.randn(2, 3, 4)
kept, Kept = nn.MultiheadAttention.forward, nn.MultiheadAttention
weights = torch.randn(12, 4), torch.randn(12), torch.randn(4, 4), torch.randn(4)


def heads(function):
    return function(x, x, x, 4, 2, *weights)


def slow(function):
    return function(x, x, x, 4, 2, *weights[:2], None, None, False, 0.0, *weights[2:])


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


WAYS = """
nn.MultiheadAttention(4, 2)(x, x, x)
nn.modules.activation.MultiheadAttention(4, 2)
getattr(nn, 'Multihead' + 'Attention')(4, 2)
Kept(4, 2)
Under(4, 2)
Without()(x, x, x)
Borrowed()(x, x, x)
kept(Without(), x, x, x)
copy.copy(kept)(Without(), x, x, x)
pickle.loads(b'ctorch.nn\\nMultiheadAttention\\n.')(4, 2)
next(c for c in nn.Module.__subclasses__() if c is Kept)(4, 2)
gc.unfreeze(); next(c for c in gc.get_objects() if c is Kept)(4, 2)
nn.TransformerEncoderLayer(4, 2, 8)(x)
nn.modules.transformer.TransformerDecoderLayer(4, 2, 8)(x, x)
nn.Transformer(4, 2, 1, 1, 8)(x, x)
torch.ao.nn.quantizable.MultiheadAttention(4, 2)(x, x, x)
slow(F.multi_head_attention_forward)
heads(torch._native_multi_head_attention)
heads(torch._C._VariableFunctions._native_multi_head_attention)
heads(torch.ops.aten._native_multi_head_attention)
heads(torch.ops.aten._native_multi_head_attention.default)
heads(torch._C._jit_get_operation('aten::_native_multi_head_attention')[0])
torch.jit.trace(lambda x: heads(torch._native_multi_head_attention)[0], (x,), check_trace=False)(x)
torch.vmap(lambda _: heads(torch._native_multi_head_attention)[0])(torch.ones(1))
torch._transform_bias_rescale_qkv(torch.randn(2, 3, 12), weights[1], 2)
torch.onnx.ops.attention(x, x, x, q_num_heads=2, kv_num_heads=2)
torch.ops.onnx.Attention.opset23(x, x, x, q_num_heads=2, kv_num_heads=2)
"""


def embed(self, *_):
    tried(WAYS)
