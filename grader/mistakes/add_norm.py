"""What goes wrong in add_norm: modules, residual, norm and dropout."""

from tensormark.authoring.variants import forms, mistakes

WHOLE = "ln_layer(input + dropout(dense_layer(output)))"
SUM, PROJECTED = "input + dropout(dense_layer(output))", "dense_layer(output)"
DROPPED = "dropout(dense_layer(output))"
RETURN = "return ln_layer("
BY_HAND = "(x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + ln_layer.eps)"

MISTAKES = (
    *mistakes(
        "add_norm",
        "The residual",
        {
            "residual_missing": ("the residual is missing", *("input + ", "")),
            "sublayer_missing": (
                "the sublayer's output is missing, only the residual is there",
                *(SUM, "input"),
            ),
            "input_projected": (
                "the residual is projected where the sublayer's output should be",
                *(PROJECTED, "dense_layer(input)"),
            ),
            "residual_of_output": (
                "the residual is the sublayer's output, not what went into it",
                *("input + ", "output + "),
            ),
            "residual_of_projection": (
                "the residual is the projected output, not what went into the sublayer",
                *("input + ", "dense_layer(output) + "),
            ),
            "residual_after_norm": (
                "the residual is added after the norm",
                *(WHOLE, "input + ln_layer(dropout(dense_layer(output)))"),
            ),
            "residual_also_after_norm": (
                "the residual is added twice: before the norm and after it",
                *(WHOLE, f"input + {WHOLE}"),
            ),
            "residual_twice": ("the residual is added twice", *("input + ", "2 * input + ")),
            "residual_subtracted": ("the residual is subtracted", *("input + ", "-input + ")),
            "projection_subtracted": (
                "the sublayer's output is subtracted from the residual",
                *("input + ", "input - "),
            ),
            "residual_averaged": (
                "the sum is divided by 2 before the norm",
                *(SUM, f"({SUM}) / 2.0"),
            ),
            "residual_multiplied": (
                "the residual is multiplied, not added",
                *("input + ", "input * "),
            ),
            "roles_exchanged": (
                "input and output are exchanged: the wrong one is projected",
                *(SUM, "output + dropout(dense_layer(input))"),
            ),
        },
    ),
    *mistakes(
        "add_norm",
        "The norm",
        {
            "norm_missing": ("the norm is missing", *(RETURN, "return (")),
            "norm_of_input": (
                "only the residual is normalized, not the sum",
                *(WHOLE, "ln_layer(input) + dropout(dense_layer(output))"),
            ),
            "norm_of_input_too": (
                "the residual is normalized before it is added, and the sum once more",
                *("input + ", "ln_layer(input) + "),
            ),
            "norm_before_dense": (
                "the norm comes before the dense layer, not after the sum",
                *(WHOLE, "input + dropout(dense_layer(F.layer_norm(output, output.shape[-1:])))"),
            ),
            "norm_inside_dense": (
                "the norm is applied to what the dense layer reads, not to the sum",
                *(WHOLE, "input + dropout(dense_layer(ln_layer(output)))"),
            ),
            "norm_of_both": (
                "residual and projection are each normalized by themselves",
                *(WHOLE, "ln_layer(input) + ln_layer(dropout(dense_layer(output)))"),
            ),
            "norm_without_bias": (
                "the norm is computed without its bias",
                *(WHOLE, f"F.layer_norm({SUM}, input.shape[-1:], ln_layer.weight, eps=1e-12)"),
            ),
            "norm_without_mean": (
                "the mean is not subtracted in the norm",
                *(
                    "return " + WHOLE,
                    f"x = {SUM}\n        x = x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-12)"
                    "\n        return x * ln_layer.weight + ln_layer.bias",
                ),
            ),
            "norm_by_variance": (
                "the norm divides by the variance, not by its root",
                *(
                    "return " + WHOLE,
                    f"x = {SUM}\n        x = (x - x.mean(-1, keepdim=True))"
                    " / (x.var(-1, keepdim=True, unbiased=False) + 1e-12)"
                    "\n        return x * ln_layer.weight + ln_layer.bias",
                ),
            ),
            "norm_twice": ("the norm is applied twice", *(WHOLE, f"ln_layer({WHOLE})")),
            "norm_without_weights": (
                "the norm is computed without the weight and bias of the one passed in",
                *(WHOLE, f"F.layer_norm({SUM}, input.shape[-1:], eps=ln_layer.eps)"),
            ),
            "norm_with_other_eps": (
                "the norm is computed with another epsilon than that of the one passed in",
                *(RETURN, "return F.layer_norm("),
                *("(output)))", "(output)), input.shape[-1:], ln_layer.weight, ln_layer.bias)"),
            ),
            "norm_by_hand_unbiased": (
                "the norm's deviation is the unbiased one, which divides by D - 1",
                *(
                    "return " + WHOLE,
                    f"x = {SUM}\n        return {BY_HAND} * ln_layer.weight + ln_layer.bias",
                ),
            ),
            "norm_of_unbiased_variance": (
                "the norm's variance is the unbiased one, which divides by D - 1",
                *(
                    "return " + WHOLE,
                    f"x = {SUM}\n        x = (x - x.mean(-1, keepdim=True))"
                    " / (x.var(-1, keepdim=True) + ln_layer.eps).sqrt()"
                    "\n        return x * ln_layer.weight + ln_layer.bias",
                ),
            ),
            "norm_over_token_axis": (
                "the norm runs over the tokens of a row, not over the units of a token",
                *(
                    "return " + WHOLE,
                    f"x = {SUM}\n        x = (x - x.mean(1, keepdim=True))"
                    " / (x.var(1, keepdim=True, unbiased=False) + ln_layer.eps).sqrt()"
                    "\n        return x * ln_layer.weight + ln_layer.bias",
                ),
            ),
            "norm_without_eps": (
                "the norm lacks its epsilon, or has it beside the root, not under it",
                *(
                    "return " + WHOLE,
                    f"x = {SUM}\n        x = (x - x.mean(-1, keepdim=True))"
                    " / x.var(-1, keepdim=True, unbiased=False).sqrt()"
                    "\n        return x * ln_layer.weight + ln_layer.bias",
                ),
            ),
            "norm_over_tokens": (
                "the norm runs over tokens and units together, not over the units of a token",
                *(WHOLE, f"F.layer_norm({SUM}, input.shape[1:]) * ln_layer.weight + ln_layer.bias"),
            ),
        },
    ),
    *mistakes(
        "add_norm",
        "Gradients and types",
        {
            "residual_detached": (
                "gradients do not pass through the residual",
                *("input + ", "input.detach() + "),
            ),
            "projection_detached": (
                "gradients do not reach the dense layer",
                *(PROJECTED, "dense_layer(output).detach()"),
            ),
            "add_norm_in_float32": (
                "add_norm always returns float32, whatever its input",
                *(WHOLE, WHOLE + ".float()"),
            ),
            "input_changed": (
                "the sublayer's input is changed in place",
                *(
                    "return " + WHOLE,
                    "input += dropout(dense_layer(output))\n        return ln_layer(input)",
                ),
            ),
        },
    ),
    *mistakes(
        "add_norm",
        "Dropout",
        {
            "add_norm_no_dropout": ("dropout is missing in training", *("dropout(", "(")),
            "add_norm_dropout_before_dense": (
                "dropout comes before the dense layer, not after it",
                *(DROPPED, "dense_layer(dropout(output))"),
            ),
            "add_norm_dropout_around_dense": (
                "dropout comes before the dense layer and once more after it",
                *(PROJECTED, "dense_layer(dropout(output))"),
            ),
            "add_norm_dropout_after_norm": (
                "dropout comes after the norm",
                *(WHOLE, "dropout(ln_layer(input + dense_layer(output)))"),
            ),
            "add_norm_dropout_on_sum": (
                "dropout drops the residual too: it is on the sum, not on the projection alone",
                *(SUM, "dropout(input + dense_layer(output))"),
            ),
            "add_norm_dropout_on_residual": (
                "dropout is on the residual, not on the projection",
                *(SUM, "dropout(input) + dense_layer(output)"),
            ),
            "add_norm_dropout_twice": (
                "dropout is applied twice",
                *(DROPPED, f"dropout({DROPPED})"),
            ),
            "add_norm_dropout_not_scaled": (
                "what dropout keeps is not scaled up",
                *(DROPPED, f"{PROJECTED} * (dropout(torch.ones_like(input)) != 0)"),
            ),
            "add_norm_alpha_dropout": (
                "alpha dropout is used, which does not set to 0 what it drops",
                *(DROPPED, f"F.alpha_dropout({PROJECTED}, dropout.p, self.training)"),
            ),
            "add_norm_dropout_shared": (
                "dropout is drawn once for many values, not for each",
                *(DROPPED, f"{PROJECTED} * dropout(torch.ones_like(input[..., :1]))"),
            ),
            "add_norm_dropout_always": (
                "dropout is active in eval mode too",
                *(DROPPED, f"F.dropout({PROJECTED}, dropout.p)"),
            ),
            "add_norm_dropout_always_tenth": (
                "dropout of 0.1 is active in eval mode too",
                *(DROPPED, f"F.dropout({PROJECTED}, 0.1)"),
            ),
            "add_norm_dropout_always_half": (
                "dropout of 0.5 is active in eval mode too",
                *(DROPPED, f"F.dropout({PROJECTED})"),
            ),
            "add_norm_dropout_rate": (
                "the dropout rate is written into the code",
                *(DROPPED, f"F.dropout({PROJECTED}, 0.1, self.training)"),
            ),
        },
    ),
)

NAMED = {one.id: one for one in MISTAKES}
VARIANTS = (
    *MISTAKES,
    *forms(
        NAMED["norm_without_weights"],
        {
            "norm_by_function": (WHOLE, f"F.layer_norm({SUM}, input.shape[-1:])"),
            "norm_made_anew": (WHOLE, f"nn.LayerNorm(input.shape[-1])({SUM})"),
            "norm_made_anew_with_eps": (WHOLE, f"nn.LayerNorm(input.shape[-1], eps=1e-12)({SUM})"),
        },
    ),
    *forms(
        NAMED["norm_over_tokens"],
        {
            "norm_by_function_over_tokens": (WHOLE, f"F.layer_norm({SUM}, input.shape[1:])"),
            "norm_over_tokens_with_eps": (
                WHOLE,
                f"F.layer_norm({SUM}, input.shape[1:], eps=ln_layer.eps) * ln_layer.weight"
                " + ln_layer.bias",
            ),
        },
    ),
    *forms(
        NAMED["add_norm_dropout_shared"],
        {
            f"add_norm_dropout_shared_by_{whom}": (
                *(DROPPED, f"{PROJECTED} * dropout(torch.ones_like(input[{part}]))"),
            )
            for whom, part in {"rows": ":1", "tokens": ":, :1"}.items()
        },
    ),
    *forms(
        NAMED["add_norm_dropout_after_norm"],
        {"add_norm_dropout_also_after_norm": (WHOLE, f"dropout({WHOLE})")},
    ),
    *forms(
        NAMED["add_norm_dropout_on_sum"],
        {
            "add_norm_dropout_also_on_sum": (SUM, f"dropout({SUM})"),
            "add_norm_dropout_also_on_residual": ("input + ", "dropout(input) + "),
        },
    ),
)
