"""What may not be used in any exercise, by full name: library code that does what one asks for.

What only one forbids is in its own file.

torch.nn.functional is allowed, scaled_dot_product_attention included: the handout says so, and its
private forms compute no more than it does. Of torch's optimizers, those that take Adam's steps are
forbidden; RAdam's become Adam's if its state is set by hand. NAdam, Adamax, Adafactor and the
others take other steps, whatever their arguments, and elementwise operations such as
torch._foreach_addcdiv_ are the building blocks of an optimizer. _transform_bias_rescale_qkv splits
heads and scales; onnx's attention splits and joins heads, and _init_fn is the operator it calls.
"""

ATTENTION = tuple(
    """
    torch.nn.MultiheadAttention
    torch.nn.Transformer
    torch.nn.TransformerEncoder
    torch.nn.TransformerEncoderLayer
    torch.nn.TransformerDecoder
    torch.nn.TransformerDecoderLayer
    torch.nn.functional.multi_head_attention_forward
    torch._native_multi_head_attention
    torch._transformer_encoder_layer_fwd
    torch._transform_bias_rescale_qkv
    torch.ao.nn.quantizable.MultiheadAttention
    torch.ao.nn.quantized.MultiheadAttention
    torch.onnx.ops.attention
    torch.onnx.ops._impl.attention_23._init_fn
    """.split()
)
# the given fine-tune also needs them
OPTIMIZERS = tuple(
    """
    torch.optim.Adam
    torch.optim.AdamW
    torch.optim.SparseAdam
    torch.optim.RAdam
    torch.optim.radam.radam
    torch.optim.radam._single_tensor_radam
    torch.optim.radam._multi_tensor_radam
    torch.optim.adam.adam
    torch.optim.adam._single_tensor_adam
    torch.optim.adam._multi_tensor_adam
    torch.optim.adam._fused_adam
    torch.optim.adamw.adamw
    torch.optim._functional.adam
    torch.optim._functional.adamw
    torch.optim._functional.sparse_adam
    torch._fused_adam_
    torch._fused_adamw_
    """.split()
)
