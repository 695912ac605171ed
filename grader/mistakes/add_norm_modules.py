"""What goes wrong in add_norm with the modules that are passed in."""

from tensormark.authoring.variants import mistakes

WHOLE = "ln_layer(input + dropout(dense_layer(output)))"
SUM, PROJECTED = "input + dropout(dense_layer(output))", "dense_layer(output)"
KEPT = 'self.kept = getattr(self, "kept", (dense_layer, dropout, ln_layer))'

VARIANTS = mistakes(
    "add_norm",
    "The modules",
    {
        "dense_missing": ("the dense layer is missing", *(PROJECTED, "output")),
        "given_dense_ignored": (
            "the layer's own attention_dense is used, not the dense layer passed in",
            *("dense_layer(", "self.attention_dense("),
        ),
        "given_dense_ignored_for_out": (
            "the layer's own out_dense is used, not the dense layer passed in",
            *("dense_layer(", "self.out_dense("),
        ),
        "given_norm_ignored": (
            "the layer's own attention_layer_norm is used, not the norm passed in",
            *("ln_layer(", "self.attention_layer_norm("),
        ),
        "given_norm_ignored_for_out": (
            "the layer's own out_layer_norm is used, not the norm passed in",
            *("ln_layer(", "self.out_layer_norm("),
        ),
        "given_dropout_ignored": (
            "the layer's own attention_dropout is used, not the dropout passed in",
            *(" dropout(", " self.attention_dropout("),
        ),
        "given_dropout_ignored_for_out": (
            "the layer's own out_dropout is used, not the dropout passed in",
            *(" dropout(", " self.out_dropout("),
        ),
        "dense_where_widths_differ": (
            "the dense layer is left out where the sublayer's output has the right width",
            *(PROJECTED, "(output if output.shape == input.shape else dense_layer(output))"),
        ),
        "dense_without_bias": (
            "the dense layer is used without its bias",
            *(PROJECTED, "F.linear(output, dense_layer.weight)"),
        ),
        "dense_last": (
            "the dense layer comes last, after the norm",
            *(WHOLE, "dense_layer(ln_layer(input + dropout(output)))"),
        ),
        "dense_twice": (
            "the dense layer is applied twice",
            *(PROJECTED, "dense_layer(dense_layer(output))"),
        ),
        "gelu_in_add_norm": (
            "there is a GELU after the dense layer",
            *(PROJECTED, "F.gelu(dense_layer(output))"),
        ),
        "both_projected": (
            "the dense layer is applied to the residual too",
            *("input + ", "dense_layer(input) + "),
        ),
        "dense_after_sum": (
            "the dense layer comes after the sum",
            *(SUM, "dropout(dense_layer(input + output))"),
        ),
        "modules_kept": (
            "the modules of the first call are kept and used for all others",
            *("return ", f"{KEPT}\n        return "),
            *("dense_layer(output)", "self.kept[0](output)"),
            *(" dropout(", " self.kept[1]("),
            *("return ln_layer(", "return self.kept[2]("),
        ),
        "norm_kept": (
            "the norm of the first call is kept and used for all others",
            *("return ", f"{KEPT}\n        return "),
            *("return ln_layer(", "return self.kept[2]("),
        ),
    },
)
