"""Layer normalization, written out.

Dimension key: B batch, T tokens, H heads, d head width, D model width.
"""

import numpy as np

from grader.model import MAIN, OTHER
from grader.probes import small_numbers
from tensormark.toolkit import Call, Sizes, Tensors, exercise, probe
from tensormark.toolkit.draws import norm
from tensormark.toolkit.probes import other_sizes, output

QUIET = 1e-6  # scale of the rows whose variance is near the default epsilon, 1e-12
LARGE_EPS = 0.5  # shows in every row
FLAT = 0.5  # every unit of a token whose variance is 0; a sum of these is exact
FORBIDDEN = tuple(
    """
    torch.nn.functional.layer_norm
    torch.nn.functional.rms_norm
    torch.nn.functional.batch_norm
    torch.nn.functional.group_norm
    torch.nn.functional.instance_norm
    torch.nn.LayerNorm
    torch.nn.RMSNorm
    torch.nn.GroupNorm
    torch.nn.BatchNorm1d
    torch.nn.BatchNorm2d
    torch.nn.InstanceNorm1d
    torch.nn.InstanceNorm2d
    torch.layer_norm
    torch.rms_norm
    torch.batch_norm
    torch.group_norm
    torch.instance_norm
    torch.native_layer_norm
    torch.native_batch_norm
    torch.native_group_norm
    torch._fused_rms_norm
    torch._native_batch_norm_legit
    torch._batch_norm_impl_index
    torch._refs.native_layer_norm
    torch._refs.native_group_norm
    torch._refs._normalize
    torch._refs.nn.functional.layer_norm
    torch._refs.nn.functional.group_norm
    torch.ops.quantized.layer_norm
    torch.ops.quantized.group_norm
    torch.ops.quantized.instance_norm
    torch.ops.aten._batch_norm_with_update
    torch.ops.aten._batch_norm_no_update
    torch._decomp.decompositions.native_batch_norm_helper
    torch._decomp.decompositions._fused_rms_norm
    """.split()
)


def shape_of(sizes: Sizes, kind: str) -> tuple[int, ...]:
    """Return the shape of x for this drawing of inputs; the last axis is normalized."""
    shapes = {
        "one axis": (sizes.D,),
        "two axes": (sizes.T, sizes.D),
        "four axes": (sizes.B, sizes.H, sizes.T, sizes.d),
    }
    return shapes.get(kind, (sizes.B, sizes.T, sizes.D))


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw vectors that are far from normalized, a gain and a bias."""
    shape = shape_of(call.sizes, call.inputs)
    x = 1.5 * rng.standard_normal(shape) + rng.standard_normal((*shape[:-1], 1))
    if call.inputs == "quiet":
        x = QUIET * rng.standard_normal(shape)
        x[0, 0] = FLAT
    weights = norm(rng, "norm", shape[-1])
    return {
        "x": x,
        "gain": weights["norm.weight"],
        "bias": weights["norm.bias"],
        "cotangent/output": rng.standard_normal(shape),
    }


EXERCISE = exercise(
    "layer_norm",
    ("x", "gain", "bias"),
    draw,
    sizes=MAIN,
    order=270,
    title="layer normalization",
    file="transformer.py",
    extension=True,
    points={"values": 3, "properties": 2},
    forbidden=FORBIDDEN,
    probes=(
        output("layer_norm"),
        probe(
            "given eps",
            "values",
            "layer_norm is wrong where eps is large",
            args=("x", "gain", "bias", "eps"),
            literals={"eps": LARGE_EPS},
        ),
        small_numbers("layer_norm"),
        other_sizes("layer_norm", OTHER, gradients=True),
        *(
            probe(axes, "properties", "layer_norm is wrong for another number of axes", inputs=axes)
            for axes in ("one axis", "two axes", "four axes")
        ),
    ),
)
