"""What goes wrong in layer normalization, and other ways to get it right."""

from tensormark.authoring.variants import bodies, mistakes

HONEST = bodies(
    "layer_norm",
    {
        "layer_norm_var_mean": """
            variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
            return (x - mean) * torch.rsqrt(variance + eps) * gain + bias
            """,
        "layer_norm_of_squares": """
            D = x.shape[-1]
            mean = x.sum(dim=-1) / D
            variance = (x ** 2).sum(dim=-1) / D - mean ** 2
            scale = (variance + eps) ** -0.5
            return torch.addcmul(bias, gain, (x - mean[..., None]) * scale[..., None])
            """,
        "layer_norm_unbiased_corrected": """
            D = x.size(-1)
            mu = torch.mean(x, -1, keepdim=True)
            sigma = (x.var(-1, keepdim=True) * (D - 1) / D + eps).sqrt()
            normalized = (x - mu) / sigma
            return torch.einsum("...d,d->...d", normalized, gain).add(bias)
            """,
    },
)

VARIANTS = mistakes(
    "layer_norm",
    """
## The axis

layer_norm_over_tokens: the mean and the variance run over the tokens, not over the units
    - x.mean(-1, keepdim=True)
    + x.mean(-2, keepdim=True)
    - deviation.square().mean(-1, keepdim=True)
    + deviation.square().mean(-2, keepdim=True)
layer_norm_over_batch: the mean and the variance run over the first axis, as in a batch norm
    - x.mean(-1, keepdim=True)
    + x.mean(0, keepdim=True)
    - deviation.square().mean(-1, keepdim=True)
    + deviation.square().mean(0, keepdim=True)
layer_norm_over_second_axis: the mean and the variance run over the second axis, which is that of the tokens
    - x.mean(-1, keepdim=True)
    + x.mean(min(1, x.ndim - 1), keepdim=True)
    - deviation.square().mean(-1, keepdim=True)
    + deviation.square().mean(min(1, x.ndim - 1), keepdim=True)
layer_norm_over_all_but_batch: the mean and the variance run over all axes but the first
    - x.mean(-1, keepdim=True)
    + x.mean(tuple(range(1, x.ndim)), keepdim=True)
    - deviation.square().mean(-1, keepdim=True)
    + deviation.square().mean(tuple(range(1, x.ndim)), keepdim=True)
layer_norm_over_all: all values share one mean and one variance
    - x.mean(-1, keepdim=True)
    + x.mean()
    - deviation.square().mean(-1, keepdim=True)
    + deviation.square().mean()
layer_norm_axis_from_front: the axis is counted from the front, which is right for three axes only
    - x.mean(-1, keepdim=True)
    + x.mean(2, keepdim=True)
    - deviation.square().mean(-1, keepdim=True)
    + deviation.square().mean(2, keepdim=True)

## The statistics

layer_norm_unbiased: the squared deviations are divided by D - 1, not by D
    - deviation.square().mean(-1, keepdim=True)
    + x.var(-1, keepdim=True)
layer_norm_sum_of_squares: the squared deviations are added up, but not divided by D
    - deviation.square().mean(-1, keepdim=True)
    + deviation.square().sum(-1, keepdim=True)
layer_norm_absolute_deviation: absolute deviations are used, not squared ones
    - deviation.square().mean(-1, keepdim=True)
    + deviation.abs().mean(-1, keepdim=True).square()
layer_norm_without_mean: the mean is never subtracted, as in an RMS norm
    - x - x.mean(-1, keepdim=True)
    + x
layer_norm_mean_not_subtracted: the mean is not subtracted in the numerator
    - gain * deviation / torch.sqrt(variance + eps) + bias
    + gain * x / torch.sqrt(variance + eps) + bias
layer_norm_variance_about_zero: the variance is taken about 0, not about the mean
    - deviation.square().mean(-1, keepdim=True)
    + x.square().mean(-1, keepdim=True)
layer_norm_only_centered: the mean is subtracted, but nothing is divided
    - / torch.sqrt(variance + eps)
    +
layer_norm_root_missing: the denominator is the variance, not its root
    - torch.sqrt(variance + eps)
    + (variance + eps)
layer_norm_power_minus_one_halved: the power is -1 and the result is halved: in Python, x ** -1 / 2 is (x ** -1) / 2
    - / torch.sqrt(variance + eps)
    + * (variance + eps) ** -1 / 2
layer_norm_of_length_one: the denominator is the length of the vector, not the root of its variance
    - gain * deviation / torch.sqrt(variance + eps) + bias
    + gain * x / x.norm(dim=-1, keepdim=True) + bias
layer_norm_multiplied: the vector is multiplied by the root of the variance, not divided by it
    - / torch.sqrt(variance + eps)
    + * torch.sqrt(variance + eps)

## Epsilon

layer_norm_eps_outside: eps is added after the root, not under it
    - torch.sqrt(variance + eps)
    + (torch.sqrt(variance) + eps)
layer_norm_unbiased_eps_outside: eps is added after the root, and the squared deviations are divided by D - 1
    - deviation.square().mean(-1, keepdim=True)
    + x.var(-1, keepdim=True)
    - torch.sqrt(variance + eps)
    + (torch.sqrt(variance) + eps)
layer_norm_unbiased_no_eps: eps is missing, and the squared deviations are divided by D - 1
    - deviation.square().mean(-1, keepdim=True)
    + x.var(-1, keepdim=True)
    - variance + eps
    + variance
layer_norm_eps_twice: eps is added twice
    - + eps
    + + 2 * eps
layer_norm_no_eps: eps is missing
    - variance + eps
    + variance
layer_norm_eps_in_code: eps is hard-coded, not the argument
    - + eps
    + + 1e-12
layer_norm_eps_of_torch: eps is torch's default, not the argument
    - + eps
    + + 1e-5
layer_norm_eps_as_least: eps is a lower bound of the variance; it should be added to it
    - variance + eps
    + variance.clamp(min=eps)
layer_norm_eps_squared: eps is squared
    - + eps
    + + eps**2

## Gain and bias

layer_norm_no_gain: the gain is missing
    - gain *
    +
layer_norm_no_bias: the bias is missing
    - + bias
    +
layer_norm_neither: the gain and the bias are missing
    - gain *
    +
    - + bias
    +
layer_norm_exchanged: the gain and the bias are swapped
    - gain *
    + bias *
    - + bias
    + + gain
layer_norm_gain_added: the gain is added, not multiplied
    - gain *
    + gain +
layer_norm_one_plus_gain: 1 is added to the gain
    - gain *
    + (1 + gain) *
layer_norm_bias_before_gain: the bias is added before the gain, so it is multiplied too
    - gain * deviation / torch.sqrt(variance + eps) + bias
    + gain * (deviation / torch.sqrt(variance + eps) + bias)
layer_norm_gain_before_norm: the gain comes before the norm, which partly removes it
    - deviation = x - x
    + x = gain * x
    +     deviation = x - x
    - gain * deviation
    + deviation
layer_norm_bias_in_ratio: the bias is divided as well
    - gain * deviation / torch.sqrt(variance + eps) + bias
    + (gain * deviation + bias) / torch.sqrt(variance + eps)

## Gradients and types

layer_norm_statistics_detached: no gradient goes through the mean and the variance
    - x.mean(-1, keepdim=True)
    + x.mean(-1, keepdim=True).detach()
    - deviation.square().mean(-1, keepdim=True)
    + deviation.square().mean(-1, keepdim=True).detach()
layer_norm_mean_detached: no gradient goes through the mean
    - x.mean(-1, keepdim=True)
    + x.mean(-1, keepdim=True).detach()
layer_norm_variance_detached: no gradient goes through the variance
    - deviation.square().mean(-1, keepdim=True)
    + deviation.square().mean(-1, keepdim=True).detach()
layer_norm_in_place: the input is changed in place
    - x - x.mean(-1, keepdim=True)
    + x.sub_(x.mean(-1, keepdim=True))
""",
)
