"""What goes wrong in AdamW."""

from tensormark.authoring.variants import mistakes

CORRECTION1 = 'correction1 = 1 - beta1 ** state["step"] if group["correct_bias"] else 1.0'
CORRECTION2 = 'correction2 = 1 - beta2 ** state["step"] if group["correct_bias"] else 1.0'
DECAY = 'p.mul_(1 - lr * group["weight_decay"])'
MEAN = "m.mul_(beta1).add_(grad, alpha=1 - beta1)"
MOVE = "p.addcdiv_(m, denominator, value=-lr * math.sqrt(correction2) / correction1)"

VARIANTS = (
    *mistakes(
        "adamw",
        "The running means",
        {
            "mean_without_memory": (
                "the mean of the gradient forgets all earlier steps",
                *("m.mul_(beta1)", "m.mul_(0.0)"),
            ),
            "means_not_kept": (
                "the new means are not stored, so every step starts from zero",
                *("m.mul_(beta1).add_(", "m = m.mul(beta1).add("),
                *("v.mul_(beta2).addcmul_(", "v = v.mul(beta2).addcmul("),
            ),
            "mean_not_weighted": (
                "the new gradient is added to its mean with weight 1",
                *("alpha=1 - beta1", "alpha=1.0"),
            ),
            "betas_exchanged": (
                "the two betas are exchanged",
                *("(beta1, beta2), lr", "(beta2, beta1), lr"),
            ),
            "gradient_not_squared": (
                "the second mean averages the size of the gradient, not its square",
                *("addcmul_(grad, grad, value=1 - beta2)", "add_(grad.abs(), alpha=1 - beta2)"),
            ),
            "gradient_for_its_square": (
                "the second mean averages the gradient, not its square",
                *("addcmul_(grad, grad, value=1 - beta2)", "add_(grad, alpha=1 - beta2)"),
            ),
        },
    ),
    *mistakes(
        "adamw",
        "The bias correction",
        {
            "no_bias_correction": (
                "the means are not corrected for starting at 0",
                *(CORRECTION1, "correction1 = 1.0"),
                *(CORRECTION2, "correction2 = 1.0"),
            ),
            "first_mean_not_corrected": (
                "the mean of the gradient is not corrected for starting at 0",
                *(CORRECTION1, "correction1 = 1.0"),
            ),
            "second_mean_not_corrected": (
                "the mean of the square is not corrected for starting at 0",
                *(CORRECTION2, "correction2 = 1.0"),
            ),
            "step_not_counted": (
                "every step is corrected as if it were the first",
                *('state["step"] += 1', 'state["step"] = 1'),
            ),
            "steps_from_zero": (
                "steps are counted one too low or too high",
                *('state["step"] += 1', 'state["step"] += 1 + (state["step"] == 0)'),
            ),
            "correction_not_optional": (
                "the means are corrected even if correct_bias is off",
                *(CORRECTION1, 'correction1 = 1 - beta1 ** state["step"]'),
                *(CORRECTION2, 'correction2 = 1 - beta2 ** state["step"]'),
            ),
        },
    ),
    *mistakes(
        "adamw",
        "The decay",
        {
            "decay_missing": ("weight decay is missing", *(DECAY, "pass")),
            "decay_without_rate": (
                "weight decay is not multiplied by the learning rate",
                *(DECAY, 'p.mul_(1 - group["weight_decay"])'),
            ),
            "decay_after_step": (
                "weight decay comes after the step, not before it",
                *(DECAY + "\n", "\n"),
                *(MOVE, f"{MOVE}\n        {DECAY}"),
            ),
            "means_of_decayed_gradient": (
                "weight decay goes into the gradient's means, as in Adam with L2",
                *(MEAN, 'grad = grad + group["weight_decay"] * p\n        ' + MEAN),
                *(DECAY, "pass"),
            ),
            "decay_of_gradient": (
                "weight decay shrinks the mean of the gradient, not the parameter",
                *(DECAY, 'm.mul_(1 - lr * group["weight_decay"])'),
            ),
        },
    ),
    *mistakes(
        "adamw",
        "The step",
        {
            "not_in_place": (
                "the parameter is not changed in place; the new value is discarded",
                *(DECAY, DECAY.replace("p.mul_", "p = p.mul")),
                *(MOVE, MOVE.replace("p.addcdiv_", "p = p.addcdiv")),
            ),
            "uphill": ("the parameter moves up the gradient", *("value=-lr", "value=lr")),
            "root_missing": (
                "the square root of the second mean is missing",
                *("v.sqrt()", "v.clone()"),
            ),
            "eps_missing": (
                "eps is missing, so that a gradient of 0 gives 0 / 0",
                *('v.sqrt().add_(group["eps"] * math.sqrt(correction2))', "v.sqrt()"),
            ),
            "eps_inside_root": (
                "eps is added under the root, not after it",
                *(
                    'v.sqrt().add_(group["eps"] * math.sqrt(correction2))',
                    'v.add(group["eps"] * correction2).sqrt()',
                ),
            ),
            "eps_in_code": (
                "eps is written into the code, not the group's",
                *('group["eps"]', "1e-8"),
            ),
            "gradient_for_its_mean": (
                "the parameter moves by the gradient, not by its mean",
                *("addcdiv_(m,", "addcdiv_(grad,"),
            ),
        },
    ),
)
