"""What goes wrong in AdamW."""

from tensormark.authoring.variants import mistakes

VARIANTS = mistakes(
    "adamw",
    """
## The running means

mean_without_memory: the mean of the gradient forgets all earlier steps
    - m.mul_(beta1)
    + m.mul_(0.0)
square_without_memory: the mean of the square forgets all earlier steps
    - v.mul_(beta2)
    + v.mul_(0.0)
means_not_kept: the new means are not stored, so every step starts from zero
    - m.mul_(beta1).add_(
    + m = m.mul(beta1).add(
    - v.mul_(beta2).addcmul_(
    + v = v.mul(beta2).addcmul(
nothing_forgotten: the means are sums: their old values are not multiplied by beta
    - m.mul_(beta1)
    + m
    - v.mul_(beta2)
    + v
mean_not_weighted: the new gradient is added to its mean with weight 1
    - alpha=1 - beta1
    + alpha=1.0
square_not_weighted: the new square is added to its mean with weight 1
    - value=1 - beta2
    + value=1.0
means_not_weighted: the new gradient and its square are added to the means with weight 1
    - alpha=1 - beta1
    + alpha=1.0
    - value=1 - beta2
    + value=1.0
weights_of_first_exchanged: the weights of the old and the new value are swapped in the first mean
    - m.mul_(beta1).add_(grad, alpha=1 - beta1)
    + m.lerp_(grad, beta1)
weights_exchanged: the weights of the old and the new value are swapped in both means
    - m.mul_(beta1).add_(grad, alpha=1 - beta1)
    + m.lerp_(grad, beta1)
    - v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    + v.lerp_(grad.square(), beta2)
weight_squared: the weight of the new gradient is squared, too
    - value=1 - beta2
    + value=(1 - beta2) ** 2
betas_exchanged: the two betas are swapped
    - (beta1, beta2), lr
    + (beta2, beta1), lr
first_beta_for_both: the first beta is used for both means
    - state["step"] += 1
    + beta2 = beta1
    +         state["step"] += 1
square_by_first_beta: the second mean uses the first beta, and its correction the second
    - v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    + v.mul_(beta1).addcmul_(grad, grad, value=1 - beta1)
gradient_not_squared: the second mean averages the absolute value of the gradient, not its square
    - addcmul_(grad, grad, value=1 - beta2)
    + add_(grad.abs(), alpha=1 - beta2)
gradient_for_its_square: the second mean averages the gradient, not its square
    - addcmul_(grad, grad, value=1 - beta2)
    + add_(grad, alpha=1 - beta2)
square_of_mean: the second mean averages the square of the first mean, not of the gradient
    - addcmul_(grad, grad,
    + addcmul_(m, m,
square_of_norm: the second mean averages the squared norm of the whole gradient
    - addcmul_(grad, grad, value=1 - beta2)
    + add_((1 - beta2) * grad.norm() ** 2)

## The bias correction

no_bias_correction: the means are not corrected for starting at 0
    - correction1 = 1 - beta1 ** state["step"] if group["correct_bias"] else 1.0
    + correction1 = 1.0
    - correction2 = 1 - beta2 ** state["step"] if group["correct_bias"] else 1.0
    + correction2 = 1.0
first_mean_not_corrected: the mean of the gradient is not corrected for starting at 0
    - correction1 = 1 - beta1 ** state["step"] if group["correct_bias"] else 1.0
    + correction1 = 1.0
second_mean_not_corrected: the mean of the square is not corrected for starting at 0
    - correction2 = 1 - beta2 ** state["step"] if group["correct_bias"] else 1.0
    + correction2 = 1.0
correction_multiplied: the means are multiplied by their corrections, not divided by them
    - correction1 = 1 - beta1 ** state["step"] if group["correct_bias"] else 1.0
    + correction1 = 1 / (1 - beta1 ** state["step"]) if group["correct_bias"] else 1.0
    - correction2 = 1 - beta2 ** state["step"] if group["correct_bias"] else 1.0
    + correction2 = 1 / (1 - beta2 ** state["step"]) if group["correct_bias"] else 1.0
correction_without_root: in the combined correction, the second mean's factor lacks its square root
    - lr * math.sqrt(correction2) / correction1
    + lr * correction2 / correction1
corrected_by_first_beta: both means are corrected with the first beta
    - 1 - beta2 **
    + 1 - beta1 **
corrected_by_second_beta: both means are corrected with the second beta
    - 1 - beta1 **
    + 1 - beta2 **
correction_to_the_power: 1 - beta is raised to the power of the step, not beta
    - 1 - beta1 **
    + (1 - beta1) **
    - 1 - beta2 **
    + (1 - beta2) **
corrected_means_kept: the corrected means are stored, so the next step corrects them again
    - denominator = v.sqrt().add_(group["eps"] * math.sqrt(correction2))
    + denominator = v.div_(correction2).sqrt().add_(group["eps"])
    - p.addcdiv_(m, denominator, value=-lr * math.sqrt(correction2) / correction1)
    + p.addcdiv_(m.div_(correction1), denominator, value=-lr)
step_not_counted: every step is corrected as if it were the first
    - state["step"] += 1
    + state["step"] = 1
step_counted_last, unnamed: the step is counted after the update, so the first correction divides by zero
    - state["step"] += 1
    +
    - m.mul_(beta1)
    + state["step"] += 1 - 1
    +         m.mul_(beta1)
steps_from_zero: steps are counted one too low or too high
    - state["step"] += 1
    + state["step"] += 1 + (state["step"] == 0)
steps_of_all: steps are counted for all parameters together, not for each
    - state["step"] += 1
    + group["step"] = state["step"] = group.get("step", 0) + 1
correction_not_optional: the means are corrected even if correct_bias is off
    - correction1 = 1 - beta1 ** state["step"] if group["correct_bias"] else 1.0
    + correction1 = 1 - beta1 ** state["step"]
    - correction2 = 1 - beta2 ** state["step"] if group["correct_bias"] else 1.0
    + correction2 = 1 - beta2 ** state["step"]
correction_when_off: the means are corrected if correct_bias is off, and not if it is on
    - correction1 = 1 - beta1 ** state["step"] if group["correct_bias"] else 1.0
    + correction1 = 1 - beta1 ** state["step"] if not group["correct_bias"] else 1.0
    - correction2 = 1 - beta2 ** state["step"] if group["correct_bias"] else 1.0
    + correction2 = 1 - beta2 ** state["step"] if not group["correct_bias"] else 1.0

## The decay

decay_after_step: weight decay comes after the step, not before it
    - p.mul_(1 - lr * group["weight_decay"])
    +
    - p.addcdiv_(m, denominator, value=-lr * math.sqrt(correction2) / correction1)
    + p.addcdiv_(m, denominator, value=-lr * math.sqrt(correction2) / correction1)
    +         p.mul_(1 - lr * group["weight_decay"])
as_in_cs224n: weight decay comes after the step and correct_bias is ignored, as CS224N has it
    - p.mul_(1 - lr * group["weight_decay"])
    +
    - correction1 = 1 - beta1 ** state["step"] if group["correct_bias"] else 1.0
    + correction1 = 1 - beta1 ** state["step"]
    - correction2 = 1 - beta2 ** state["step"] if group["correct_bias"] else 1.0
    + correction2 = 1 - beta2 ** state["step"]
    - p.addcdiv_(m, denominator, value=-lr * math.sqrt(correction2) / correction1)
    + p.addcdiv_(m, denominator, value=-lr * math.sqrt(correction2) / correction1)
    +         p.mul_(1 - lr * group["weight_decay"])
decay_missing: weight decay is missing
    - p.mul_(1 - lr * group["weight_decay"])
    + pass
decay_without_rate: weight decay is not multiplied by the learning rate
    - p.mul_(1 - lr * group["weight_decay"])
    + p.mul_(1 - group["weight_decay"])
decay_by_corrected_rate: weight decay is multiplied by the corrected learning rate
    - p.mul_(1 - lr * group["weight_decay"])
    + p.mul_(1 - lr * math.sqrt(correction2) / correction1 * group["weight_decay"])
decay_after_by_corrected_rate: weight decay comes after the step, and is multiplied by the corrected learning rate
    - p.mul_(1 - lr * group["weight_decay"])
    +
    - p.addcdiv_(m, denominator, value=-lr * math.sqrt(correction2) / correction1)
    + p.addcdiv_(m, denominator, value=-lr * math.sqrt(correction2) / correction1)
    +         p.mul_(1 - lr * math.sqrt(correction2) / correction1 * group["weight_decay"])
decay_adds: weight decay makes the parameter grow
    - p.mul_(1 - lr * group["weight_decay"])
    + p.mul_(1 + lr * group["weight_decay"])
decay_of_one: weight decay subtracts the same amount from every weight, whatever its size
    - p.mul_(1 - lr * group["weight_decay"])
    + p.sub_(lr * group["weight_decay"])
means_of_decayed_gradient: weight decay goes into the gradient's means, as in Adam with L2
    - m.mul_(beta1).add_(grad, alpha=1 - beta1)
    + grad = grad + group["weight_decay"] * p
    +         m.mul_(beta1).add_(grad, alpha=1 - beta1)
    - p.mul_(1 - lr * group["weight_decay"])
    + pass
decay_twice: weight decay is applied twice: through the gradient's means, and on its own
    - m.mul_(beta1).add_(grad, alpha=1 - beta1)
    + grad = grad + group["weight_decay"] * p
    +         m.mul_(beta1).add_(grad, alpha=1 - beta1)
decay_divided: weight decay is added to the mean of the gradient, and divided with it
    - p.addcdiv_(m, denominator, value=-lr * math.sqrt(correction2) / correction1)
    + p.addcdiv_(m + group["weight_decay"] * correction1 * p, denominator, value=-lr * math.sqrt(correction2) / correction1)
    - p.mul_(1 - lr * group["weight_decay"])
    + pass
decay_of_gradient: weight decay shrinks the mean of the gradient, not the parameter
    - p.mul_(1 - lr * group["weight_decay"])
    + m.mul_(1 - lr * group["weight_decay"])

## The step

not_in_place: the parameter is not changed in place; the new value is discarded
    - p.mul_(1 - lr * group["weight_decay"])
    + p = p.mul(1 - lr * group["weight_decay"])
    - p.addcdiv_(m, denominator, value=-lr * math.sqrt(correction2) / correction1)
    + p = p.addcdiv(m, denominator, value=-lr * math.sqrt(correction2) / correction1)
uphill: the parameter moves up the gradient
    - value=-lr
    + value=lr
root_missing: the square root of the second mean is missing
    - v.sqrt()
    + v.clone()
root_kept: the second mean is overwritten with its root
    - v.sqrt()
    + v.sqrt_()
eps_missing: eps is missing, so a gradient of 0 gives 0 / 0
    - v.sqrt().add_(group["eps"] * math.sqrt(correction2))
    + v.sqrt()
eps_inside_root: eps is added under the root, not after it
    - v.sqrt().add_(group["eps"] * math.sqrt(correction2))
    + v.add(group["eps"] * correction2).sqrt()
eps_beside_quotient: eps is added to the quotient, not to the denominator
    - v.sqrt().add_(group["eps"] * math.sqrt(correction2))
    + v.sqrt()
    - p.addcdiv_(m, denominator, value=-lr * math.sqrt(correction2) / correction1)
    + p.addcdiv_(m, denominator, value=-lr * math.sqrt(correction2) / correction1).sub_(lr * group["eps"])
eps_in_code: eps is hard-coded, not taken from the group
    - group["eps"]
    + 1e-8
gradient_for_its_mean: the parameter moves by the gradient, not by its mean
    - addcdiv_(m,
    + addcdiv_(grad,

## Gradients and types

gradient_scaled: the gradient is changed when its mean is updated, and then squared
    - m.mul_(beta1).add_(grad, alpha=1 - beta1)
    + m.mul_(beta1).add_(grad.mul_(1 - beta1))
gradient_squared: the gradient is changed in place
    - v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    + v.mul_(beta2).add_(grad.square_(), alpha=1 - beta2)
steps_of_all_groups = steps_of_all
    - state["step"] += 1
    + self.t = state["step"] = getattr(self, "t", 0) + 1
gradient_decayed = means_of_decayed_gradient
    - m.mul_(beta1).add_(grad, alpha=1 - beta1)
    + grad.add_(p, alpha=group["weight_decay"])
    +         m.mul_(beta1).add_(grad, alpha=1 - beta1)
    - p.mul_(1 - lr * group["weight_decay"])
    + pass
moved_elsewhere = not_in_place
    - p.addcdiv_(m, denominator, value=-lr * math.sqrt(correction2) / correction1)
    + p = p.addcdiv(m, denominator, value=-lr * math.sqrt(correction2) / correction1)
""",
)
