"""What goes wrong in the decoder layer."""

from tensormark.authoring.variants import mistakes

VARIANTS = mistakes(
    "decoder_layer",
    """
## Three sublayers

self_attention_missing: the self-attention is missing
    - (self.self_norm, lambda x: self.self_attention(x, x, self_mask)),
    +
cross_attention_missing: the attention over the encoder's output is missing
    - (self.cross_norm, lambda x: self.cross_attention(x, encoded, cross_mask)),
    +
decoder_feed_forward_missing: the feed-forward part is missing
    - (self.feed_norm, self.feed_forward),
    +
cross_of_self: the second attention reuses the module of the first
    - self.cross_attention(x
    + self.self_attention(x
cross_before_self: the attention over the encoder's output comes before the self-attention
    - (self.self_norm, lambda x: self.self_attention(x, x, self_mask)),
    + (self.self_norm, lambda x: self.cross_attention(x, encoded, cross_mask)),
    - (self.cross_norm, lambda x: self.cross_attention(x, encoded, cross_mask)),
    + (self.cross_norm, lambda x: self.self_attention(x, x, self_mask)),
cross_over_itself: the second attention is over the target, not the encoder's output
    - self.cross_attention(x, encoded, cross_mask)
    + self.cross_attention(x, x, self_mask)
self_over_encoded: the first attention is over the encoder's output, not the target
    - self.self_attention(x, x, self_mask)
    + self.self_attention(x, encoded, cross_mask)
cross_queries_of_input: the second attention's queries come from the layer's input, not from the result of the first
    - sublayers = (
    + first = states
    +         sublayers = (
    - self.cross_attention(x, encoded
    + self.cross_attention(self.cross_norm(first) if self.pre_norm else first, encoded
encoded_normalised_before: in pre-norm order, the encoder's output is normalized too
    - (x, encoded, cross_mask)
    + (x, self.cross_norm(encoded) if self.pre_norm else encoded, cross_mask)
encoded_normalised: the encoder's output is normalized too
    - (x, encoded, cross_mask)
    + (x, self.cross_norm(encoded), cross_mask)

## The masks

self_mask_dropped: the self-attention is computed without its mask
    - (x, x, self_mask)
    + (x, x, None)
cross_mask_dropped: the attention over the encoder's output is computed without its mask
    - (x, encoded, cross_mask)
    + (x, encoded, None)

## Norms and residuals

always_post_norm: pre_norm makes no difference
    - if self.pre_norm
    + if False
pre_and_post_exchanged: pre-norm and post-norm are swapped
    - if self.pre_norm
    + if not self.pre_norm
always_pre_norm: the order is always pre-norm
    - if self.pre_norm
    + if True
pre_and_post_norm: in pre-norm order there are also norms after the sums
    - states = states + self.dropout(sublayer(norm(states)))
    + states = norm(states + self.dropout(sublayer(norm(states))))
pre_norm_with_last: in pre-norm order there is a norm at the end
    - return states
    + return self.feed_norm(states) if self.pre_norm else states
pre_norm_of_query: in pre-norm order the keys and values of the first attention are not normalized
    - for norm, sublayer in sublayers:
    + given = states
    +         for norm, sublayer in sublayers:
    - (self.self_norm, lambda x: self.self_attention(x, x, self_mask)),
    + (self.self_norm, lambda x: self.self_attention(x, given if self.pre_norm else x, self_mask)),
residual_of_input: the residual of every sublayer is the input of the layer
    - for norm, sublayer in sublayers:
    + given = states
    +         for norm, sublayer in sublayers:
    - states = states + self.dropout(sublayer(norm(states)))
    + states = given + self.dropout(sublayer(norm(states)))
    - states = norm(states + self.dropout(sublayer(states)))
    + states = norm(given + self.dropout(sublayer(states)))
feed_residual_missing: the residual of the feed-forward part is missing
    - states = states + self.dropout(sublayer(norm(states)))
    + states = (norm is not self.feed_norm) * states + self.dropout(sublayer(norm(states)))
    - states = norm(states + self.dropout(sublayer(states)))
    + states = norm((norm is not self.feed_norm) * states + self.dropout(sublayer(states)))
cross_residual_missing: the residual of the second attention is missing
    - states = states + self.dropout(sublayer(norm(states)))
    + states = (norm is not self.cross_norm) * states + self.dropout(sublayer(norm(states)))
    - states = norm(states + self.dropout(sublayer(states)))
    + states = norm((norm is not self.cross_norm) * states + self.dropout(sublayer(states)))
decoder_one_norm: the first norm is used for every sublayer
    - (self.cross_norm,
    + (self.self_norm,
    - (self.feed_norm,
    + (self.self_norm,
decoder_norms_exchanged: the norms of the second and third sublayer are swapped
    - (self.cross_norm,
    + (self.feed_norm,
    - (self.feed_norm, self.feed
    + (self.cross_norm, self.feed
decoder_residual_missing: the residuals are missing
    - states = states + self.dropout(sublayer(norm(states)))
    + states = self.dropout(sublayer(norm(states)))
    - states = norm(states + self.dropout(sublayer(states)))
    + states = norm(self.dropout(sublayer(states)))
residual_of_norm: in pre-norm order the residual is the norm's output, not its input
    - states = states + self.dropout(sublayer(norm(states)))
    + states = norm(states) + self.dropout(sublayer(norm(states)))
norm_before_residual: in post-norm order the norm comes before the residual sum
    - states = norm(states + self.dropout(sublayer(states)))
    + states = states + norm(self.dropout(sublayer(states)))

## Dropout

decoder_no_dropout: dropout is missing in training
    - states + self.dropout(sublayer(norm(states)))
    + states + sublayer(norm(states))
    - norm(states + self.dropout(sublayer(states)))
    + norm(states + sublayer(states))
decoder_no_feed_dropout: dropout is missing after the feed-forward part
    - for norm, sublayer in sublayers:
    + for norm, sublayer in sublayers:
    +             dropout = nn.Identity() if norm is self.feed_norm else self.dropout
    - states = states + self.dropout(sublayer(norm(states)))
    + states = states + dropout(sublayer(norm(states)))
    - states = norm(states + self.dropout(sublayer(states)))
    + states = norm(states + dropout(sublayer(states)))
decoder_dropout_after_norm: dropout comes after the norm of the sum
    - states = norm(states + self.dropout(sublayer(states)))
    + states = self.dropout(norm(states + sublayer(states)))
    - states = states + self.dropout(sublayer(norm(states)))
    + states = self.dropout(states + sublayer(norm(states)))
decoder_dropout_before: dropout is on the input of each sublayer, not on its output
    - states = norm(states + self.dropout(sublayer(states)))
    + states = norm(states + sublayer(self.dropout(states)))
    - states = states + self.dropout(sublayer(norm(states)))
    + states = states + sublayer(self.dropout(norm(states)))
decoder_dropout_within: dropout is also inside a sublayer, not only on its output
    - (self.feed_norm, self.feed_forward),
    + (self.feed_norm, lambda x: self.narrow(self.dropout(F.relu(self.wide(x))))),
decoder_dropout_twice = decoder_dropout_within
    - (self.self_norm, lambda x: self.self_attention(x, x, self_mask)),
    + (self.self_norm, lambda x: self.dropout(self.self_attention(x, x, self_mask))),
decoder_dropout_on_sum: dropout is on the sum, so it drops the residual too
    - states = states + self.dropout(sublayer(norm(states)))
    + states = self.dropout(states + sublayer(norm(states)))
    - states = norm(states + self.dropout(sublayer(states)))
    + states = norm(self.dropout(states + sublayer(states)))
""",
)
