"""What goes wrong in one encoder layer."""

from tensormark.authoring.variants import mistakes

VARIANTS = mistakes(
    "layer",
    """
## Two sublayers

second_residual_of_input: the second residual is the layer's input
    - self.add_norm(x, interm
    + self.add_norm(hidden_states, interm
second_residual_of_context: the second residual is attention's output
    - self.add_norm(x, interm
    + self.add_norm(context, interm
first_residual_missing: the first residual is missing
    - self.add_norm(x, context
    + self.add_norm(torch.zeros_like(x), context
first_residual_of_context: the first residual is attention's output, not the layer's input
    - self.add_norm(x, context
    + self.add_norm(context, context
second_residual_missing: the second residual is missing
    - self.add_norm(x, interm
    + self.add_norm(torch.zeros_like(x), interm
first_add_norm_missing: attention is not followed by an add_norm
    - x = self.add_norm(x, context, *modules)
    + x = context
second_add_norm_missing: the feed-forward part is not followed by an add_norm
    - self.add_norm(x, interm, *modules)
    + self.out_dense(interm)
second_norm_missing: the feed-forward part ends without its norm
    - self.add_norm(x, interm, *modules)
    + x + self.out_dropout(self.out_dense(interm))
feed_forward_missing: the output is that of the first add_norm: the feed-forward part has no effect
    - self.add_norm(x, interm, *modules)
    + x
first_sublayer_missing: attention and its add_norm have no effect
    - x = self.add_norm(x, context, *modules)
    + x = hidden_states
attention_not_projected: attention is called without the projections to query, key and value
    - self.self_attention(hidden_states, attention_mask)
    + self.self_attention.attention(*3 * [hidden_states.unflatten(-1, (self.self_attention.num_attention_heads, -1)).transpose(1, 2)], attention_mask)
attention_missing: attention has no effect
    - x = self.add_norm(x, context, *modules)
    + x = self.add_norm(x, x, *modules)
layer_norm_again: the second norm is applied again to the layer's output
    - self.add_norm(x, interm, *modules)
    + self.out_layer_norm(self.add_norm(x, interm, *modules))
layer_padding_blanked: the vectors of padding are set to 0
    - self.add_norm(x, interm, *modules)
    + self.add_norm(x, interm, *modules) * (attention_mask[:, 0, 0, :, None] == 0)
attention_dense_missing: attention's dense layer is missing: the output is added unprojected
    - x = self.add_norm(x, context, *modules)
    + x = self.attention_layer_norm(x + self.attention_dropout(context))
input_added_to_output: the layer's input is added to its output again
    - self.add_norm(x, interm, *modules)
    + hidden_states + self.add_norm(x, interm, *modules)
residual_added_to_output: the feed-forward part's input is added to its output again
    - self.add_norm(x, interm, *modules)
    + x + self.add_norm(x, interm, *modules)
context_kept: attention's output of the first call is kept and used for all others
    - x = self.add_norm(x, context, *modules)
    + self.kept = context = getattr(self, "kept", context)
    +         x = self.add_norm(x, context, *modules)
attention_input_zeroed: attention does not read the layer's input
    - self.self_attention(hidden_states,
    + self.self_attention(torch.zeros_like(hidden_states),
attention_projected_twice: attention_dense is applied before add_norm, which applies it again
    - (x, context,
    + (x, self.attention_dense(context),
first_residual_twice: the layer's input is added before the first add_norm, which adds it again
    - (x, context,
    + (x, x + context,
first_arguments_exchanged: attention's add_norm gets its two arguments in the wrong order
    - (x, context,
    + (context, x,
attention_twice: attention runs twice, the second time on its own output
    - x = self.add_norm(x, context, *modules)
    + context = self.self_attention(context, attention_mask)
    +         x = self.add_norm(x, context, *modules)
feed_forward_twice: the feed-forward part runs twice
    - interm = self
    + modules = self.out_dense, self.out_dropout, self.out_layer_norm
    +         x = self.add_norm(x, self.interm_af(self.interm_dense(x)), *modules)
    +         interm = self
norm_before_attention: attention reads a normalized input; here each norm comes after its sublayer
    - self.self_attention(hidden_states,
    + self.self_attention(self.attention_layer_norm(hidden_states),
norms_before_sublayers: each norm comes before its sublayer; here it comes after, on the sum
    - self.self_attention(hidden_states,
    + self.self_attention(self.attention_layer_norm(hidden_states),
    - x = self.add_norm(x, context, *modules)
    + x = x + self.attention_dropout(self.attention_dense(context))
    - self.interm_dense(x)
    + self.interm_dense(self.out_layer_norm(x))
    - self.add_norm(x, interm, *modules)
    + x + self.out_dropout(self.out_dense(interm))
sublayers_side_by_side: attention and the feed-forward part run in parallel, both on the layer's input
    - self.interm_dense(x)
    + self.interm_dense(hidden_states)
    - self.add_norm(x, interm
    + self.add_norm(x + hidden_states, interm
layer_mask_inverted: the mask passed to attention hides tokens and shows padding
    - attention_mask)
    + -10000.0 - attention_mask)
layer_mask_extended_again: the mask, which is already additive, is extended again
    - attention_mask)
    + (1.0 - attention_mask) * -10000.0)
layer_mask_of_first_row: every row of the batch gets the mask of the first one
    - attention_mask)
    + attention_mask[:1])
layer_mask_negated: the mask passed to attention has the wrong sign
    - attention_mask)
    + -attention_mask)
layer_mask_boolean: attention gets a boolean mask, or one of small numbers
    - attention_mask)
    + attention_mask == 0)
feed_forward_first: the feed-forward part comes before attention
    - self.self_attention(hidden_states, attention_mask)
    + INTERM
    - self.interm_af(self.interm_dense(x))
    + self.self_attention(x, attention_mask)
    - INTERM
    + self.interm_af(self.interm_dense(hidden_states))
    - self.attention_dense, self.attention_dropout, self.attention_layer_norm
    + MODULES
    - self.out_dense, self.out_dropout, self.out_layer_norm
    + self.attention_dense, self.attention_dropout, self.attention_layer_norm
    - MODULES
    + self.out_dense, self.out_dropout, self.out_layer_norm
layer_mask_dropped: attention gets no mask, or one that hides nothing
    - attention_mask)
    + torch.zeros_like(attention_mask))
layer_mask_constant = layer_mask_dropped
    - attention_mask)
    + torch.full_like(attention_mask, -10000.0))

## The modules

norms_exchanged: the two norms are swapped
    - self.attention_layer_norm
    + NORM
    - self.out_layer_norm
    + self.attention_layer_norm
    - NORM
    + self.out_layer_norm
first_norm_twice: the first norm is used for the feed-forward part too
    - self.out_layer_norm
    + self.attention_layer_norm
second_norm_twice: the second norm is used for attention too
    - self.attention_layer_norm
    + self.out_layer_norm
dropouts_exchanged: the two dropout modules are swapped
    - self.attention_dropout
    + DROPOUT
    - self.out_dropout
    + self.attention_dropout
    - DROPOUT
    + self.out_dropout
first_dropout_twice: the first dropout module is used for the feed-forward part too
    - self.out_dropout
    + self.attention_dropout
second_dropout_twice: the second dropout module is used for attention too
    - self.attention_dropout
    + self.out_dropout

## Dropout

first_dropout_missing: no dropout after attention's dense layer in training
    - x = self.add_norm(x, context, *modules)
    + x = self.attention_layer_norm(hidden_states + self.attention_dense(context))
second_dropout_missing: no dropout after the feed-forward part's dense layer in training
    - self.add_norm(x, interm, *modules)
    + self.out_layer_norm(x + self.out_dense(interm))
extra_dropout_on_context: there is an extra dropout on attention's output
    - (x, context,
    + (x, self.attention_dropout(context),
extra_dropout_on_input: there is an extra dropout on what attention reads
    - self.self_attention(hidden_states, attention_mask)
    + self.self_attention(self.attention_dropout(hidden_states), attention_mask)
extra_dropout_on_interm_input: there is an extra dropout on what the feed-forward part reads
    - self.interm_dense(x)
    + self.interm_dense(self.out_dropout(x))
extra_dropout_on_interm: there is an extra dropout on the feed-forward part's inner units
    - (x, interm,
    + (x, self.out_dropout(interm),
extra_dropout_on_output: there is an extra dropout on the layer's output
    - self.add_norm(x, interm, *modules)
    + self.out_dropout(self.add_norm(x, interm, *modules))
extra_dropout_between: there is an extra dropout between the two sublayers
    - x = self.add_norm(x, context, *modules)
    + x = self.attention_dropout(self.add_norm(x, context, *modules))

## Gradients and types

sublayer_detached: gradients stop between the two sublayers
    - self.interm_dense(x)
    + self.interm_dense(x.detach())
context_detached: gradients stop at attention's output
    - (x, context,
    + (x, context.detach(),
layer_in_float32: the layer always returns float32, whatever its input
    - self.add_norm(x, interm, *modules)
    + self.add_norm(x, interm, *modules).float()
layer_mask_as_boolean = layer_mask_boolean
    - attention_mask)
    + attention_mask.bool())

## The feed-forward part

gelu_missing: GELU is missing, or its result is discarded
    - self.interm_af(
    + (
relu: ReLU is used instead of GELU
    - self.interm_af(
    + F.relu(
tanh: tanh is used instead of GELU
    - self.interm_af(
    + torch.tanh(
sigmoid_unit: a sigmoid is used instead of GELU
    - self.interm_af(
    + torch.sigmoid(
silu: SiLU is used instead of GELU
    - self.interm_af(
    + F.silu(
gelu_before_dense: GELU comes before the first dense layer of the feed-forward part
    - self.interm_af(self.interm_dense(x))
    + self.interm_dense(self.interm_af(x))
gelu_by_tanh: the tanh approximation of GELU is used, not the exact form
    - self.interm_af(
    + F.gelu(approximate="tanh", input=
gelu_by_sigmoid: x * sigmoid(1.702 x) approximates GELU; the exact form is needed
    - self.interm_af(self.interm_dense(x))
    + self.interm_dense(x) * torch.sigmoid(1.702 * self.interm_dense(x))
gelu_without_half: GELU lacks its factor 0.5
    - self.interm_af(self.interm_dense(x))
    + 2.0 * self.interm_af(self.interm_dense(x))
gelu_without_root: GELU's error function gets x, not x divided by the root of 2
    - self.interm_af(self.interm_dense(x))
    + 0.5 * self.interm_dense(x) * (1.0 + torch.erf(self.interm_dense(x)))
gelu_without_one: GELU lacks the 1 that is added to the error function
    - self.interm_af(self.interm_dense(x))
    + 0.5 * self.interm_dense(x) * torch.erf(self.interm_dense(x) / 2.0**0.5)
gelu_without_factor: GELU lacks its factor x: this is the normal distribution function alone
    - self.interm_af(self.interm_dense(x))
    + 0.5 * (1.0 + torch.erf(self.interm_dense(x) / 2.0**0.5))
gelu_halved_root: GELU's error function gets x / 2, not x divided by the root of 2
    - self.interm_af(self.interm_dense(x))
    + 0.5 * self.interm_dense(x) * (1.0 + torch.erf(self.interm_dense(x) / 2.0))
gelu_precedence: GELU's error function gets x / 4: in Python, x / 2 ** 1 / 2 is (x / 2) / 2
    - self.interm_af(self.interm_dense(x))
    + 0.5 * self.interm_dense(x) * (1.0 + torch.erf(self.interm_dense(x) / 2 ** 1 / 2))
gelu_by_tanh_inverted: the tanh approximation of GELU has the root of pi / 2, not of 2 / pi
    - self.interm_af(self.interm_dense(x))
    + 0.5 * self.interm_dense(x) * (1.0 + torch.tanh((torch.pi / 2) ** 0.5 * (self.interm_dense(x) + 0.044715 * self.interm_dense(x) ** 3)))
gelu_by_tanh_without_cube: the tanh approximation of GELU lacks its cube, and the exact form is needed
    - self.interm_af(self.interm_dense(x))
    + 0.5 * self.interm_dense(x) * (1.0 + torch.tanh((2 / torch.pi) ** 0.5 * self.interm_dense(x)))
gelu_on_context: GELU is applied to attention's output too
    - (x, context,
    + (x, self.interm_af(context),
leaky_relu: leaky ReLU is used instead of GELU
    - self.interm_af(
    + F.leaky_relu(
elu: ELU is used instead of GELU
    - self.interm_af(
    + F.elu(
gelu_twice: GELU is applied twice
    - self.interm_af(self.interm_dense(x))
    + self.interm_af(self.interm_af(self.interm_dense(x)))
gelu_last: GELU comes after the second dense layer
    - self.interm_af(
    + (
    - self.add_norm(x, interm, *modules)
    + self.add_norm(x, interm, GELU_AFTER, *modules[1:])
    - GELU_AFTER
    + lambda y: self.interm_af(modules[0](y))
gelu_on_output: GELU is applied to the layer's output
    - self.add_norm(x, interm, *modules)
    + self.interm_af(self.add_norm(x, interm, *modules))
interm_of_input: the feed-forward part reads the layer's input
    - self.interm_dense(x)
    + self.interm_dense(hidden_states)
interm_of_context: the feed-forward part reads attention's output before its add_norm
    - self.interm_dense(x)
    + self.interm_dense(context)
interm_dense_skipped, unnamed: the first dense layer of the feed-forward part is skipped
    - self.interm_af(self.interm_dense(x))
    + self.interm_af(x)
""",
)
