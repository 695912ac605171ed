"""What goes wrong in AdamW."""

from tensormark.authoring.variants import forms, mistakes

COUNT = 'state["step"] += 1'
CORRECTION1 = 'correction1 = 1 - beta1 ** state["step"] if group["correct_bias"] else 1.0'
CORRECTION2 = 'correction2 = 1 - beta2 ** state["step"] if group["correct_bias"] else 1.0'
ALWAYS1 = 'correction1 = 1 - beta1 ** state["step"]'
ALWAYS2 = 'correction2 = 1 - beta2 ** state["step"]'
DECAY = 'p.mul_(1 - lr * group["weight_decay"])'
MEAN = "m.mul_(beta1).add_(grad, alpha=1 - beta1)"
SQUARE = "v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)"
EPS = 'group["eps"] * math.sqrt(correction2)'
RATE = "lr * math.sqrt(correction2) / correction1"
DENOMINATOR = f"denominator = v.sqrt().add_({EPS})"
MOVE = f"p.addcdiv_(m, denominator, value=-{RATE})"

MEANS = mistakes(
    "adamw",
    "The running means",
    {
        "mean_without_memory": (
            "the mean of the gradient forgets all earlier steps",
            *("m.mul_(beta1)", "m.mul_(0.0)"),
        ),
        "square_without_memory": (
            "the mean of the square forgets all earlier steps",
            *("v.mul_(beta2)", "v.mul_(0.0)"),
        ),
        "means_not_kept": (
            "the new means are not stored, so every step starts from zero",
            *("m.mul_(beta1).add_(", "m = m.mul(beta1).add("),
            *("v.mul_(beta2).addcmul_(", "v = v.mul(beta2).addcmul("),
        ),
        "nothing_forgotten": (
            "the means are sums: what they were is not multiplied by beta",
            *("m.mul_(beta1)", "m"),
            *("v.mul_(beta2)", "v"),
        ),
        "mean_not_weighted": (
            "the new gradient is added to its mean with weight 1",
            *("alpha=1 - beta1", "alpha=1.0"),
        ),
        "square_not_weighted": (
            "the new square is added to its mean with weight 1",
            *("value=1 - beta2", "value=1.0"),
        ),
        "means_not_weighted": (
            "the new gradient and its square are added to the means with weight 1",
            *("alpha=1 - beta1", "alpha=1.0"),
            *("value=1 - beta2", "value=1.0"),
        ),
        "weights_of_first_exchanged": (
            "what is new has the weight of what was there, and vice versa, in the first mean",
            *(MEAN, "m.lerp_(grad, beta1)"),
        ),
        "weights_exchanged": (
            "what is new has the weight of what was there, and vice versa, in both means",
            *(MEAN, "m.lerp_(grad, beta1)"),
            *(SQUARE, "v.lerp_(grad.square(), beta2)"),
        ),
        "weight_squared": (
            "the weight of the new gradient is squared, too",
            *("value=1 - beta2", "value=(1 - beta2) ** 2"),
        ),
        "betas_exchanged": (
            "the two betas are exchanged",
            *("(beta1, beta2), lr", "(beta2, beta1), lr"),
        ),
        "first_beta_for_both": (
            "the first beta is used for both means",
            *(COUNT, f"beta2 = beta1\n        {COUNT}"),
        ),
        "square_by_first_beta": (
            "the second mean has the first beta, and its correction the second",
            *(SQUARE, SQUARE.replace("beta2", "beta1")),
        ),
        "gradient_not_squared": (
            "the second mean averages the size of the gradient, not its square",
            *("addcmul_(grad, grad, value=1 - beta2)", "add_(grad.abs(), alpha=1 - beta2)"),
        ),
        "gradient_for_its_square": (
            "the second mean averages the gradient, not its square",
            *("addcmul_(grad, grad, value=1 - beta2)", "add_(grad, alpha=1 - beta2)"),
        ),
        "square_of_mean": (
            "the second mean averages the square of the first mean, not of the gradient",
            *("addcmul_(grad, grad,", "addcmul_(m, m,"),
        ),
        "square_of_norm": (
            "the second mean averages the squared norm of the whole gradient",
            *("addcmul_(grad, grad, value=1 - beta2)", "add_((1 - beta2) * grad.norm() ** 2)"),
        ),
    },
)

CORRECTION = mistakes(
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
        "correction_multiplied": (
            "the means are multiplied by their corrections, not divided by them",
            *(
                CORRECTION1,
                CORRECTION1.replace("1 - beta1", "1 / (1 - beta1").replace(" if", ") if"),
            ),
            *(
                CORRECTION2,
                CORRECTION2.replace("1 - beta2", "1 / (1 - beta2").replace(" if", ") if"),
            ),
        ),
        "correction_without_root": (
            "in the combined correction, that of the second mean has no root",
            *(RATE, "lr * correction2 / correction1"),
        ),
        "corrected_by_first_beta": (
            "both means are corrected with the first beta",
            *("1 - beta2 **", "1 - beta1 **"),
        ),
        "corrected_by_second_beta": (
            "both means are corrected with the second beta",
            *("1 - beta1 **", "1 - beta2 **"),
        ),
        "correction_to_the_power": (
            "the step is the power of 1 - beta, not of beta",
            *("1 - beta1 **", "(1 - beta1) **"),
            *("1 - beta2 **", "(1 - beta2) **"),
        ),
        "corrected_means_kept": (
            "the corrected means are stored, so that the next step corrects them again",
            *(DENOMINATOR, 'denominator = v.div_(correction2).sqrt().add_(group["eps"])'),
            *(MOVE, "p.addcdiv_(m.div_(correction1), denominator, value=-lr)"),
        ),
        "step_not_counted": (
            "every step is corrected as if it were the first",
            *(COUNT, 'state["step"] = 1'),
        ),
        "step_counted_last": (
            "the step is counted after the update, so the first correction divides by zero",
            *(COUNT, ""),
            *("m.mul_(beta1)", f"{COUNT} - 1\n        m.mul_(beta1)"),
        ),
        "steps_from_zero": (
            "steps are counted one too low or too high",
            *(COUNT, 'state["step"] += 1 + (state["step"] == 0)'),
        ),
        "steps_of_all": (
            "steps are counted for all parameters together, not for each",
            *(COUNT, 'group["step"] = state["step"] = group.get("step", 0) + 1'),
        ),
        "correction_not_optional": (
            "the means are corrected even if correct_bias is off",
            *(CORRECTION1, ALWAYS1),
            *(CORRECTION2, ALWAYS2),
        ),
        "correction_when_off": (
            "the means are corrected if correct_bias is off, and not if it is on",
            *(CORRECTION1, CORRECTION1.replace("if group", "if not group")),
            *(CORRECTION2, CORRECTION2.replace("if group", "if not group")),
        ),
    },
)

THE_DECAY = mistakes(
    "adamw",
    "The decay",
    {
        "decay_after_step": (
            "weight decay comes after the step, not before it",
            *(DECAY + "\n", "\n"),
            *(MOVE, f"{MOVE}\n        {DECAY}"),
        ),
        "as_in_cs224n": (
            "weight decay comes after the step and correct_bias is ignored, as CS224N has it",
            *(DECAY + "\n", "\n"),
            *(CORRECTION1, ALWAYS1),
            *(CORRECTION2, ALWAYS2),
            *(MOVE, f"{MOVE}\n        {DECAY}"),
        ),
        "decay_missing": ("weight decay is missing", *(DECAY, "pass")),
        "decay_without_rate": (
            "weight decay is not multiplied by the learning rate",
            *(DECAY, 'p.mul_(1 - group["weight_decay"])'),
        ),
        "decay_by_corrected_rate": (
            "weight decay is multiplied by the corrected learning rate",
            *(DECAY, f'p.mul_(1 - {RATE} * group["weight_decay"])'),
        ),
        "decay_after_by_corrected_rate": (
            "weight decay comes after the step, and is multiplied by the corrected learning rate",
            *(DECAY + "\n", "\n"),
            *(MOVE, f'{MOVE}\n        p.mul_(1 - {RATE} * group["weight_decay"])'),
        ),
        "decay_adds": (
            "weight decay makes the parameter grow",
            *(DECAY, DECAY.replace("1 - lr", "1 + lr")),
        ),
        "decay_of_one": (
            "weight decay takes the same amount off every weight, whatever its size",
            *(DECAY, 'p.sub_(lr * group["weight_decay"])'),
        ),
        "means_of_decayed_gradient": (
            "weight decay goes into the gradient's means, as in Adam with L2",
            *(MEAN, 'grad = grad + group["weight_decay"] * p\n        ' + MEAN),
            *(DECAY, "pass"),
        ),
        "decay_twice": (
            "weight decay is there twice: in the gradient's means, and by itself",
            *(MEAN, 'grad = grad + group["weight_decay"] * p\n        ' + MEAN),
        ),
        "decay_divided": (
            "weight decay is added to the mean of the gradient, and divided with it",
            *(MOVE, MOVE.replace("(m,", '(m + group["weight_decay"] * correction1 * p,')),
            *(DECAY, "pass"),
        ),
        "decay_of_gradient": (
            "weight decay shrinks the mean of the gradient, not the parameter",
            *(DECAY, 'm.mul_(1 - lr * group["weight_decay"])'),
        ),
    },
)

STEP = mistakes(
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
        "root_kept": ("the second mean is overwritten with its root", *("v.sqrt()", "v.sqrt_()")),
        "eps_missing": (
            "eps is missing, so that a gradient of 0 gives 0 / 0",
            *(f"v.sqrt().add_({EPS})", "v.sqrt()"),
        ),
        "eps_inside_root": (
            "eps is added under the root, not after it",
            *(f"v.sqrt().add_({EPS})", 'v.add(group["eps"] * correction2).sqrt()'),
        ),
        "eps_beside_quotient": (
            "eps is added to the quotient, not to what divides",
            *(f"v.sqrt().add_({EPS})", "v.sqrt()"),
            *(MOVE, f'{MOVE}.sub_(lr * group["eps"])'),
        ),
        "eps_in_code": ("eps is written into the code, not the group's", *('group["eps"]', "1e-8")),
        "gradient_for_its_mean": (
            "the parameter moves by the gradient, not by its mean",
            *("addcdiv_(m,", "addcdiv_(grad,"),
        ),
    },
)

CHANGED = mistakes(
    "adamw",
    "Gradients and types",
    {
        "gradient_scaled": (
            "the gradient is changed when its mean is updated, and then squared",
            *(MEAN, "m.mul_(beta1).add_(grad.mul_(1 - beta1))"),
        ),
        "gradient_squared": (
            "the gradient is squared in place",
            *(SQUARE, "v.mul_(beta2).add_(grad.square_(), alpha=1 - beta2)"),
        ),
    },
)

NAMED = {v.id: v for v in (*MEANS, *CORRECTION, *THE_DECAY, *STEP)}
FORMS = (
    *forms(
        NAMED["steps_of_all"],
        {"steps_of_all_groups": (*(COUNT, 'self.t = state["step"] = getattr(self, "t", 0) + 1'),)},
    ),
    *forms(
        NAMED["means_of_decayed_gradient"],
        {
            "gradient_decayed": (
                *(MEAN, 'grad.add_(p, alpha=group["weight_decay"])\n        ' + MEAN),
                *(DECAY, "pass"),
            )
        },
    ),
    *forms(
        NAMED["not_in_place"],
        {"moved_elsewhere": (*(MOVE, MOVE.replace("p.addcdiv_", "p = p.addcdiv")),)},
    ),
)

VARIANTS = (*MEANS, *CORRECTION, *THE_DECAY, *STEP, *CHANGED, *FORMS)
