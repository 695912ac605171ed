"""What goes wrong in add_norm: modules, residual, norm and dropout."""

from tensormark.authoring.variants import mistakes

VARIANTS = mistakes(
    "add_norm",
    """
## The residual

residual_missing: the residual is missing
    - input +
    +
sublayer_missing: the sublayer's output is missing, only the residual is there
    - input + dropout(dense_layer(output))
    + input
input_projected: the residual is projected where the sublayer's output should be
    - dense_layer(output)
    + dense_layer(input)
residual_of_output: the residual is the sublayer's output, not its input
    - input +
    + output +
residual_of_projection: the residual is the projected output, not the sublayer's input
    - input +
    + dense_layer(output) +
residual_after_norm: the residual is added after the norm
    - ln_layer(input + dropout(dense_layer(output)))
    + input + ln_layer(dropout(dense_layer(output)))
residual_also_after_norm: the residual is added twice: before the norm and after it
    - ln_layer(input + dropout(dense_layer(output)))
    + input + ln_layer(input + dropout(dense_layer(output)))
residual_twice: the residual is added twice
    - input +
    + 2 * input +
residual_subtracted: the residual is subtracted
    - input +
    + -input +
projection_subtracted: the sublayer's output is subtracted from the residual
    - input +
    + input -
residual_averaged: the sum is divided by 2 before the norm
    - input + dropout(dense_layer(output))
    + (input + dropout(dense_layer(output))) / 2.0
residual_multiplied: the residual is multiplied, not added
    - input +
    + input *
roles_exchanged: input and output are swapped: the wrong one is projected
    - input + dropout(dense_layer(output))
    + output + dropout(dense_layer(input))

## The norm

norm_missing: the norm is missing
    - return ln_layer(
    + return (
norm_of_input: only the residual is normalized, not the sum
    - ln_layer(input + dropout(dense_layer(output)))
    + ln_layer(input) + dropout(dense_layer(output))
norm_of_input_too: the residual is normalized too, not only the sum
    - input +
    + ln_layer(input) +
norm_before_dense: the norm comes before the dense layer, not after the sum
    - ln_layer(input + dropout(dense_layer(output)))
    + input + dropout(dense_layer(F.layer_norm(output, output.shape[-1:])))
norm_inside_dense: the norm is applied to the dense layer's input, not to the sum
    - ln_layer(input + dropout(dense_layer(output)))
    + input + dropout(dense_layer(ln_layer(output)))
norm_of_both: residual and projection are normalized separately, not their sum
    - ln_layer(input + dropout(dense_layer(output)))
    + ln_layer(input) + ln_layer(dropout(dense_layer(output)))
norm_without_bias: the norm is computed without its bias
    - ln_layer(input + dropout(dense_layer(output)))
    + F.layer_norm(input + dropout(dense_layer(output)), input.shape[-1:], ln_layer.weight, eps=1e-12)
norm_without_mean: the mean is not subtracted in the norm
    - return ln_layer(input + dropout(dense_layer(output)))
    + x = input + dropout(dense_layer(output))
    +         x = x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-12)
    +         return x * ln_layer.weight + ln_layer.bias
norm_by_variance: the norm divides by the variance, not by its root
    - return ln_layer(input + dropout(dense_layer(output)))
    + x = input + dropout(dense_layer(output))
    +         x = (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, unbiased=False) + 1e-12)
    +         return x * ln_layer.weight + ln_layer.bias
norm_twice: the norm is applied twice
    - ln_layer(input + dropout(dense_layer(output)))
    + ln_layer(ln_layer(input + dropout(dense_layer(output))))
norm_without_weights: the norm ignores the weight and bias of the module passed in
    - ln_layer(input + dropout(dense_layer(output)))
    + F.layer_norm(input + dropout(dense_layer(output)), input.shape[-1:], eps=ln_layer.eps)
norm_with_other_eps: the norm's epsilon is not the config's
    - return ln_layer(
    + return F.layer_norm(
    - (output)))
    + (output)), input.shape[-1:], ln_layer.weight, ln_layer.bias)
norm_by_hand_unbiased: the norm uses the unbiased standard deviation, which divides by D - 1
    - return ln_layer(input + dropout(dense_layer(output)))
    + x = input + dropout(dense_layer(output))
    +         return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + ln_layer.eps) * ln_layer.weight + ln_layer.bias
norm_of_unbiased_variance: the norm uses the unbiased variance, which divides by D - 1
    - return ln_layer(input + dropout(dense_layer(output)))
    + x = input + dropout(dense_layer(output))
    +         x = (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + ln_layer.eps).sqrt()
    +         return x * ln_layer.weight + ln_layer.bias
norm_over_token_axis: the norm runs over the tokens of a row, not over the units of a token
    - return ln_layer(input + dropout(dense_layer(output)))
    + x = input + dropout(dense_layer(output))
    +         x = (x - x.mean(1, keepdim=True)) / (x.var(1, keepdim=True, unbiased=False) + ln_layer.eps).sqrt()
    +         return x * ln_layer.weight + ln_layer.bias
norm_without_eps: the norm lacks its epsilon, or adds it outside the root
    - return ln_layer(input + dropout(dense_layer(output)))
    + x = input + dropout(dense_layer(output))
    +         x = (x - x.mean(-1, keepdim=True)) / x.var(-1, keepdim=True, unbiased=False).sqrt()
    +         return x * ln_layer.weight + ln_layer.bias
norm_over_tokens: the norm runs over tokens and units together, not over the units of a token
    - ln_layer(input + dropout(dense_layer(output)))
    + F.layer_norm(input + dropout(dense_layer(output)), input.shape[1:]) * ln_layer.weight + ln_layer.bias

## Gradients and types

residual_detached: gradients do not pass through the residual
    - input +
    + input.detach() +
projection_detached: gradients do not reach the dense layer
    - dense_layer(output)
    + dense_layer(output).detach()
add_norm_in_float32: add_norm always returns float32, whatever its input
    - ln_layer(input + dropout(dense_layer(output)))
    + ln_layer(input + dropout(dense_layer(output))).float()
input_changed: the sublayer's input is changed in place
    - return ln_layer(input + dropout(dense_layer(output)))
    + input += dropout(dense_layer(output))
    +         return ln_layer(input)

## Dropout

add_norm_no_dropout: dropout is missing in training
    - dropout(
    + (
add_norm_dropout_before_dense: dropout comes before the dense layer, not after it
    - dropout(dense_layer(output))
    + dense_layer(dropout(output))
add_norm_dropout_around_dense: dropout comes both before and after the dense layer
    - dense_layer(output)
    + dense_layer(dropout(output))
add_norm_dropout_after_norm: dropout comes after the norm
    - ln_layer(input + dropout(dense_layer(output)))
    + dropout(ln_layer(input + dense_layer(output)))
add_norm_dropout_on_sum: dropout drops the residual too: it is on the sum, not on the projection alone
    - input + dropout(dense_layer(output))
    + dropout(input + dense_layer(output))
add_norm_dropout_on_residual: dropout is on the residual, not on the projection
    - input + dropout(dense_layer(output))
    + dropout(input) + dense_layer(output)
add_norm_dropout_twice: dropout is applied twice
    - dropout(dense_layer(output))
    + dropout(dropout(dense_layer(output)))
add_norm_dropout_not_scaled: the values that dropout keeps are not scaled up
    - dropout(dense_layer(output))
    + dense_layer(output) * (dropout(torch.ones_like(input)) != 0)
add_norm_alpha_dropout: alpha dropout is used, which does not set dropped values to 0
    - dropout(dense_layer(output))
    + F.alpha_dropout(dense_layer(output), dropout.p, self.training)
add_norm_dropout_shared: dropout draws once for many values, not once for each
    - dropout(dense_layer(output))
    + dense_layer(output) * dropout(torch.ones_like(input[..., :1]))
add_norm_dropout_always_tenth: dropout of 0.1 is active in eval mode too
    - dropout(dense_layer(output))
    + F.dropout(dense_layer(output), 0.1)
add_norm_dropout_always_half: dropout of 0.5 is active in eval mode too
    - dropout(dense_layer(output))
    + F.dropout(dense_layer(output))
add_norm_dropout_rate: the dropout rate is hard-coded
    - dropout(dense_layer(output))
    + F.dropout(dense_layer(output), 0.1, self.training)
norm_by_function = norm_without_weights
    - ln_layer(input + dropout(dense_layer(output)))
    + F.layer_norm(input + dropout(dense_layer(output)), input.shape[-1:])
norm_made_anew = norm_without_weights
    - ln_layer(input + dropout(dense_layer(output)))
    + nn.LayerNorm(input.shape[-1])(input + dropout(dense_layer(output)))
norm_made_anew_with_eps = norm_without_weights
    - ln_layer(input + dropout(dense_layer(output)))
    + nn.LayerNorm(input.shape[-1], eps=1e-12)(input + dropout(dense_layer(output)))
norm_by_function_over_tokens = norm_over_tokens
    - ln_layer(input + dropout(dense_layer(output)))
    + F.layer_norm(input + dropout(dense_layer(output)), input.shape[1:])
norm_over_tokens_with_eps = norm_over_tokens
    - ln_layer(input + dropout(dense_layer(output)))
    + F.layer_norm(input + dropout(dense_layer(output)), input.shape[1:], eps=ln_layer.eps) * ln_layer.weight + ln_layer.bias
add_norm_dropout_shared_by_rows = add_norm_dropout_shared
    - dropout(dense_layer(output))
    + dense_layer(output) * dropout(torch.ones_like(input[:1]))
add_norm_dropout_shared_by_tokens = add_norm_dropout_shared
    - dropout(dense_layer(output))
    + dense_layer(output) * dropout(torch.ones_like(input[:, :1]))
add_norm_dropout_also_after_norm = add_norm_dropout_after_norm
    - ln_layer(input + dropout(dense_layer(output)))
    + dropout(ln_layer(input + dropout(dense_layer(output))))
add_norm_dropout_also_on_sum = add_norm_dropout_on_sum
    - input + dropout(dense_layer(output))
    + dropout(input + dropout(dense_layer(output)))
add_norm_dropout_also_on_residual = add_norm_dropout_on_sum
    - input +
    + dropout(input) +

## The modules

dense_missing: the dense layer is missing
    - dense_layer(output)
    + output
given_dense_ignored, unnamed: the layer's own attention_dense is used, not the dense layer passed in
    - dense_layer(
    + self.attention_dense(
given_dense_ignored_for_out, unnamed: the layer's own out_dense is used, not the dense layer passed in
    - dense_layer(
    + self.out_dense(
given_norm_ignored: the layer's own attention_layer_norm is used, not the norm passed in
    - ln_layer(
    + self.attention_layer_norm(
given_norm_ignored_for_out: the layer's own out_layer_norm is used, not the norm passed in
    - ln_layer(
    + self.out_layer_norm(
given_dropout_ignored: the layer's own attention_dropout is used, not the dropout passed in
    -  dropout(
    +  self.attention_dropout(
given_dropout_ignored_for_out: the layer's own out_dropout is used, not the dropout passed in
    -  dropout(
    +  self.out_dropout(
dense_where_widths_differ: the dense layer is skipped where the sublayer's output already has the right width
    - dense_layer(output)
    + (output if output.shape == input.shape else dense_layer(output))
dense_without_bias: the dense layer is used without its bias
    - dense_layer(output)
    + F.linear(output, dense_layer.weight)
dense_last: the dense layer comes last, after the norm
    - ln_layer(input + dropout(dense_layer(output)))
    + dense_layer(ln_layer(input + dropout(output)))
dense_twice: the dense layer is applied twice
    - dense_layer(output)
    + dense_layer(dense_layer(output))
gelu_in_add_norm: there is a GELU after the dense layer
    - dense_layer(output)
    + F.gelu(dense_layer(output))
gelu_before_dense_in_add_norm: there is a GELU before the dense layer
    - dense_layer(output)
    + dense_layer(F.gelu(output))
relu_in_add_norm: there is a ReLU after the dense layer
    - dense_layer(output)
    + F.relu(dense_layer(output))
residual_halved: only half of the residual is added
    - input +
    + 0.5 * input +
both_projected: the dense layer is applied to the residual too
    - input +
    + dense_layer(input) +
dense_after_sum: the dense layer comes after the sum
    - input + dropout(dense_layer(output))
    + dropout(dense_layer(input + output))
modules_kept, unnamed: the modules of the first call are kept and used for all others
    - return
    + self.kept = getattr(self, "kept", (dense_layer, dropout, ln_layer))
    +         return
    - dense_layer(output)
    + self.kept[0](output)
    - dropout(
    + self.kept[1](
    - return ln_layer(
    + return self.kept[2](
norm_kept: the norm of the first call is kept and used for all others
    - return
    + self.kept = getattr(self, "kept", (dense_layer, dropout, ln_layer))
    +         return
    - return ln_layer(
    + return self.kept[2](
""",
)
