"""What goes wrong in attention: scores, scale, softmax, heads, mask and dropout."""

from tensormark.authoring.variants import mistakes

VARIANTS = mistakes(
    "attention",
    """
## The scores

key_query_exchanged: key and query are swapped
    - query @ key.transpose(-2, -1)
    + key @ query.transpose(-2, -1)
key_value_exchanged: key and value are swapped
    - query @ key.transpose(-2, -1)
    + query @ value.transpose(-2, -1)
    - probs @ value
    + probs @ key
query_value_exchanged: query and value are swapped
    - query @ key.transpose(-2, -1)
    + value @ key.transpose(-2, -1)
    - probs @ value
    + probs @ query
keys_gathered: the keys are averaged in place of the values
    - probs @ value
    + probs @ key
queries_with_queries: the queries are compared with each other, not with the keys
    - query @ key.transpose(-2, -1)
    + query @ query.transpose(-2, -1)
queries_with_values: the queries are compared with the values, not with the keys
    - query @ key.transpose(-2, -1)
    + query @ value.transpose(-2, -1)
keys_of_first_head: every head uses the keys of the first head
    - query @ key.transpose(-2, -1)
    + query @ key[:, :1].transpose(-2, -1)
values_of_first_head: every head uses the values of the first head
    - probs @ value
    + probs @ value[:, :1]
own_value_only: each token gets its own value only
    - probs @ value
    + probs.sum(-1, keepdim=True) * value
scores_without_query: the query is not used: the scores depend on the keys only
    - query @ key.transpose(-2, -1)
    + torch.ones_like(query) @ key.transpose(-2, -1)
scores_by_distance: query and key are compared by their distance, not by their product
    - query @ key.transpose(-2, -1)
    + -torch.cdist(query, key)
scores_by_angle: query and key are compared by the cosine of their angle, not by their product
    - query @ key.transpose(-2, -1)
    + F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).transpose(-2, -1)
key_reshaped: the key is reshaped instead of transposed
    - query @ key.transpose(-2, -1)
    + query @ key.reshape(B, H, d, T)
key_of_other_tokens: the keys are in the wrong order
    - query @ key.transpose(-2, -1)
    + query @ key.flip(2).transpose(-2, -1)
probabilities_transposed: the probabilities are transposed: each token uses the others' weights, not its own
    - probs @ value
    + probs.transpose(-2, -1) @ value

## The scale

no_scale: the scores are not scaled
    - / math.sqrt(d)
    +
scale_by_width: the scores are scaled by the width of the model, not of a head
    - / math.sqrt(d)
    + / math.sqrt(H * d)
scale_by_heads: the scores are scaled by the number of heads, not by the width of a head
    - / math.sqrt(d)
    + / math.sqrt(H)
scale_by_length: the scores are scaled by the number of tokens, not by the width of a head
    - / math.sqrt(d)
    + / math.sqrt(T)
scale_twice: the scores are scaled twice, or without the root
    - / math.sqrt(d)
    + / d
scale_rounded: the root of the width of a head is truncated to an integer
    - / math.sqrt(d)
    + / int(math.sqrt(d))
scale_hard_coded: the scale is hard-coded for heads of 64 units
    - / math.sqrt(d)
    + / 8.0
scale_multiplied: the scores are multiplied by the root of d, not divided by it
    - / math.sqrt(d)
    + * math.sqrt(d)
scale_precedence: the scores are divided by 2 d: in Python, d ** -1 / 2 is (d ** -1) / 2
    - / math.sqrt(d)
    + * d ** -1 / 2
scale_by_half: the scores are divided by d / 2: in Python, d ** 1 / 2 is (d ** 1) / 2
    - / math.sqrt(d)
    + / (d ** 1 / 2)
scale_squared: the scores are divided by the square of d, not by its root
    - / math.sqrt(d)
    + / d ** 2
scale_after_softmax: the scale comes after the softmax
    - / math.sqrt(d)
    +
    - F.softmax(scores + attention_mask, dim=-1)
    + F.softmax(scores + attention_mask, dim=-1) / math.sqrt(d)

## The softmax

softmax_over_queries: the softmax runs over the queries, not over the keys
    - dim=-1
    + dim=-2
softmax_over_heads: the softmax runs over the heads
    - dim=-1
    + dim=1
softmax_over_batch: the softmax runs over the batch
    - dim=-1
    + dim=0
no_softmax: there is no softmax
    - F.softmax(scores + attention_mask, dim=-1)
    + (scores + attention_mask)
softmax_twice: there are two softmaxes
    - F.softmax(scores
    + F.softmax(F.softmax(scores
    - dim=-1
    + dim=-1), dim=-1
log_softmax: the logarithm of the probabilities is used
    - F.softmax
    + F.log_softmax
sigmoid: a sigmoid replaces the softmax
    - F.softmax(scores + attention_mask, dim=-1)
    + torch.sigmoid(scores + attention_mask)
exponentials_not_divided: the exponentials are not divided by their sum
    - F.softmax(scores + attention_mask, dim=-1)
    + torch.exp(scores + attention_mask)
softmax_over_everything: the exponentials are divided by their sum over everything, not over each row
    - F.softmax(scores + attention_mask, dim=-1)
    + torch.exp(scores + attention_mask) / torch.exp(scores + attention_mask).sum()
scores_clamped: the scores are clamped
    - scores + attention_mask
    + scores.clamp(-20, 20) + attention_mask
scores_clamped_low = scores_clamped
    - scores + attention_mask
    + scores.clamp(-5, 5) + attention_mask
scores_clamped_at_ten = scores_clamped
    - scores + attention_mask
    + scores.clamp(-10, 10) + attention_mask
scores_negated: the scores have the wrong sign
    - = query @
    + = -query @
softmax_of_context: the softmax is applied to the gathered values
    - F.softmax(scores + attention_mask, dim=-1)
    + (scores + attention_mask)
    - probs @ value
    + F.softmax(probs @ value, dim=-1)

## The heads

heads_not_transposed: the heads are merged without moving tokens in front of heads
    - context.transpose(1, 2).reshape(B, T, H * d)
    + context.reshape(B, T, H * d)
heads_not_merged: the heads are not merged: (B, H, T, d)
    - context.transpose(1, 2).reshape(B, T, H * d)
    + context
heads_left_apart: the heads are not merged: (B, T, H, d)
    - context.transpose(1, 2).reshape(B, T, H * d)
    + context.transpose(1, 2)
heads_interleaved: the units of the heads are interleaved, not side by side
    - context.transpose(1, 2).reshape(B, T, H * d)
    + context.permute(0, 2, 3, 1).reshape(B, T, H * d)
heads_merged_by_unit: the wrong two axes are swapped before the heads are merged
    - context.transpose(1, 2).reshape(B, T, H * d)
    + context.transpose(2, 3).reshape(B, T, H * d)
axes_misread: sizes are read from the wrong axes: heads come before tokens
    - B, H, T, d = query.shape
    + B, T, H, d = query.shape
heads_split_again: key, query and value, which are already split into heads, are split again
    - B, H, T, d = query.shape
    + B, H, T, d = query.shape
    +         key, query, value = (x.reshape(B, T, H, d).transpose(1, 2) for x in (key, query, value))
heads_averaged: the heads are averaged
    - context.transpose(1, 2).reshape(B, T, H * d)
    + context.mean(dim=1)
heads_summed: the heads are added up
    - context.transpose(1, 2).reshape(B, T, H * d)
    + context.sum(dim=1)
first_head_only: only the first head is returned
    - context.transpose(1, 2).reshape(B, T, H * d)
    + context[:, 0]
heads_reversed: the heads are in the wrong order
    - context.transpose(1, 2).reshape(B, T, H * d)
    + context.flip(1).transpose(1, 2).reshape(B, T, H * d)
length_hard_coded, unnamed: the number of tokens is hard-coded
    - context.transpose(1, 2).reshape(B, T, H * d)
    + context.transpose(1, 2).reshape(B, 512, H * d)

## Gradients and types

probabilities_detached: gradients stop at the probabilities
    - probs @ value
    + probs.detach() @ value
attention_detached: gradients do not pass through attention's output
    - context.transpose(1, 2).reshape(B, T, H * d)
    + context.transpose(1, 2).reshape(B, T, H * d).detach()
query_detached: gradients do not reach the query
    - query @ key.transpose(-2, -1)
    + query.detach() @ key.transpose(-2, -1)
value_detached: gradients do not reach the values
    - probs @ value
    + probs @ value.detach()
attention_in_float32: attention always returns float32, whatever its input
    - probs @ value
    + probs.float() @ value.float()
query_changed: the query is changed in place
    - / math.sqrt(d)
    +
    - B, H, T, d = query.shape
    + B, H, T, d = query.shape
    +         query /= math.sqrt(d)

## The heads

query_value_projections_swapped, in given code: the given forward was changed: the projections of query and value are swapped
    - value = self.transform(hidden_states, self.value)
    + value = QUERY
    - query = self.transform(hidden_states, self.query)
    + query = self.transform(hidden_states, self.value)
    - QUERY
    + self.transform(hidden_states, self.query)
heads_split_wrongly, in given code: the heads are split by tokens: view(B, H, T, d) without a transpose
    - x.transpose(1, 2)  # (B, H, T, d)
    + x.reshape(B, x.shape[2], T, x.shape[3])
heads_split_by_unit, in given code: the units of a head are taken from all over the vector, not side by side
    - x.transpose(1, 2)  # (B, H, T, d)
    + x.reshape(B, T, x.shape[3], x.shape[2]).permute(0, 3, 1, 2)
key_viewed = key_reshaped
    - query @ key.transpose(-2, -1)
    + query @ key.view(B, H, d, T)
softmax_over_heads_of_scaled_mask = softmax_over_heads
    - / math.sqrt(d)
    +
    - F.softmax(scores + attention_mask, dim=-1)
    + F.softmax((scores + attention_mask) / math.sqrt(d), dim=1)
heads_averaged_and_repeated = heads_averaged
    - context.transpose(1, 2).reshape(B, T, H * d)
    + context.mean(dim=1).repeat(1, 1, H)

## The mask

mask_ignored: the mask has no effect: padding is attended to
    - scores + attention_mask
    + scores
mask_multiplied: the mask is multiplied into the scores
    - scores + attention_mask
    + scores * attention_mask
mask_after_softmax: the mask is added after the softmax
    - F.softmax(scores + attention_mask, dim=-1)
    + F.softmax(scores, dim=-1) + attention_mask
mask_subtracted: the mask is subtracted: padding is attended to and tokens are not
    - scores + attention_mask
    + scores - attention_mask
mask_hides_tokens: the mask hides the tokens and shows the padding
    - scores + attention_mask
    + scores.masked_fill(attention_mask == 0, -1e9)
mask_hides_tokens_by_inf: the mask hides the tokens with -inf and shows the padding
    - scores + attention_mask
    + scores.masked_fill(attention_mask == 0, float("-inf"))
mask_zeroes_scores_of_tokens: the scores of tokens are set to almost 0, those of padding stay
    - scores + attention_mask
    + scores.masked_fill(attention_mask == 0, 1e-9)
mask_extended_again: the mask is converted to its additive form a second time
    - scores + attention_mask
    + scores + (1.0 - attention_mask) * -10000.0
mask_of_first_row: every row of the batch gets the mask of the first one
    - scores + attention_mask
    + scores + attention_mask[:1]
mask_of_plus_inf: padding gets a score of plus infinity: the softmax of that is NaN
    - scores + attention_mask
    + scores.masked_fill(attention_mask < 0, float("inf"))
mask_too_weak: the mask lowers the scores of padding only a little
    - scores + attention_mask
    + scores + 1e-4 * attention_mask
nan_in_row_of_padding: a row that is only padding gives NaN
    - scores + attention_mask
    + scores.masked_fill(attention_mask < 0, float("-inf"))
softmax_without_maximum = nan_in_row_of_padding
    - F.softmax(scores + attention_mask, dim=-1)
    + (lambda e: e / e.sum(-1, keepdim=True))(torch.exp(scores + attention_mask))
softmax_less_maximum_of_all = nan_in_row_of_padding
    - F.softmax(scores + attention_mask, dim=-1)
    + (lambda e: e / e.sum(-1, keepdim=True))(torch.exp(scores + attention_mask - (scores + attention_mask).max()))
mask_too_weak_for_large_scores: the mask lowers the scores of padding by too little for large scores
    - scores + attention_mask
    + scores + 2e-3 * attention_mask
mask_on_queries: the mask is added to the rows of queries, not to the columns of keys
    - scores + attention_mask
    + scores + attention_mask.transpose(-2, -1)
mask_of_future: tokens cannot see those after them, as in a decoder; BERT reads both ways
    - scores + attention_mask
    + scores.masked_fill(torch.ones(T, T).triu(1) > 0, -1e9) + attention_mask
mask_of_future_only: the mask hides the tokens that follow, not the padding
    - scores + attention_mask
    + scores.masked_fill(torch.ones(T, T).triu(1) > 0, -1e9)
mask_on_values: the mask is added to the gathered values, not to the scores
    - scores + attention_mask
    + scores
    - probs @ value
    + probs @ value + attention_mask.transpose(-2, -1)
mask_zeroes_probabilities: padding is removed after the softmax, so the rest no longer sums to 1
    - F.softmax(scores + attention_mask, dim=-1)
    + F.softmax(scores, dim=-1) * (attention_mask == 0)
attention_padding_blanked: the vectors of padding are set to 0
    - context.transpose(1, 2).reshape(B, T, H * d)
    + context.transpose(1, 2).reshape(B, T, H * d) * (attention_mask[:, 0, 0, :, None] == 0)
mask_kept: the mask of the first call is kept and used for all others
    - B, H, T, d = query.shape
    + B, H, T, d = query.shape
    +         self.kept = getattr(self, "kept", attention_mask)
    - scores + attention_mask
    + scores + self.kept
mask_zeroes_scores: the mask sets scores to 0, which does not give a probability of 0 after the softmax
    - scores + attention_mask
    + scores * (attention_mask == 0)
filled_with_a_billionth = mask_zeroes_scores
    - scores + attention_mask
    + scores.masked_fill(attention_mask < 0, 1e-9)
mask_of_minus_ten = mask_too_weak
    - scores + attention_mask
    + scores + 1e-3 * attention_mask
filled_with_minus_ten = mask_too_weak
    - scores + attention_mask
    + scores.masked_fill(attention_mask < 0, -10.0)
filled_with_minus_one = mask_too_weak
    - scores + attention_mask
    + scores.masked_fill(attention_mask < 0, -1.0)
mask_multiplied_again = mask_extended_again
    - scores + attention_mask
    + scores + attention_mask * -10000.0
mask_multiplied_in_place = mask_extended_again
    - scores + attention_mask
    + scores + attention_mask.mul_(-10000.0)
mask_multiplied_by_billion = mask_extended_again
    - scores + attention_mask
    + scores + attention_mask * -1e9
mask_extended_by_billion = mask_extended_again
    - scores + attention_mask
    + scores + (1.0 - attention_mask) * -1e9
future_filled_with_mask = mask_of_future
    - scores + attention_mask
    + scores.masked_fill(torch.ones(T, T).triu(1) > 0, -1e4) + attention_mask
mask_hides_tokens_by_library = mask_hides_tokens
    - probs @ value
    + F.scaled_dot_product_attention(query, key, value, attention_mask.bool(), self.dropout.p * self.training)

## Dropout

no_attention_dropout: no dropout on the attention probabilities in training
    - self.dropout(
    + (
attention_dropout_before_softmax: dropout comes before the softmax, on the masked scores
    - self.dropout(F.softmax(scores + attention_mask, dim=-1))
    + F.softmax(self.dropout(scores + attention_mask), dim=-1)
attention_dropout_on_scores: dropout comes before the softmax, on the scores
    - self.dropout(F.softmax(scores + attention_mask, dim=-1))
    + F.softmax(self.dropout(scores) + attention_mask, dim=-1)
attention_dropout_on_context: dropout is on the gathered values, not on the probabilities
    - self.dropout(
    + (
    - probs @ value
    + self.dropout(probs @ value)
attention_dropout_on_values: dropout is on the values, not on the probabilities
    - self.dropout(
    + (
    - probs @ value
    + probs @ self.dropout(value)
attention_dropout_on_both: dropout is on the probabilities and again on the gathered values
    - probs @ value
    + self.dropout(probs @ value)
attention_dropout_twice: dropout is applied twice to the attention probabilities
    - self.dropout(F.softmax(scores + attention_mask, dim=-1))
    + self.dropout(self.dropout(F.softmax(scores + attention_mask, dim=-1)))
attention_dropout_always_half: dropout of 0.5 on the attention probabilities is active in eval mode too
    - self.dropout(F.softmax(scores + attention_mask, dim=-1))
    + F.dropout(F.softmax(scores + attention_mask, dim=-1))
attention_dropout_always_tenth: dropout of 0.1 on the attention probabilities is active in eval mode too
    - self.dropout(F.softmax(scores + attention_mask, dim=-1))
    + F.dropout(F.softmax(scores + attention_mask, dim=-1), 0.1)
attention_dropout_half: the dropout rate of the attention probabilities is always 0.5, not the config's
    - self.dropout(F.softmax(scores + attention_mask, dim=-1))
    + F.dropout(F.softmax(scores + attention_mask, dim=-1), training=self.training)
attention_dropout_rate: the dropout rate of the attention probabilities is hard-coded
    - self.dropout(F.softmax(scores + attention_mask, dim=-1))
    + F.dropout(F.softmax(scores + attention_mask, dim=-1), 0.1, self.training)
attention_dropout_of_hidden_states, in given code: attention's dropout has the rate of the hidden states
    - config.attention_probs_dropout_prob
    + config.hidden_dropout_prob
attention_dropout_not_scaled: the probabilities that dropout keeps are not scaled up
    - self.dropout(F.softmax(scores + attention_mask, dim=-1))
    + F.softmax(scores + attention_mask, dim=-1) * (self.dropout(torch.ones_like(scores)) != 0)
attention_dropout_shared: dropout draws once for many attention probabilities, not once for each
    - self.dropout(F.softmax(scores + attention_mask, dim=-1))
    + F.softmax(scores + attention_mask, dim=-1) * self.dropout(torch.ones_like(scores[:, :1]))
attention_dropout_shared_by_rows = attention_dropout_shared
    - self.dropout(F.softmax(scores + attention_mask, dim=-1))
    + F.softmax(scores + attention_mask, dim=-1) * self.dropout(torch.ones_like(scores[:1]))
attention_dropout_shared_by_keys = attention_dropout_shared
    - self.dropout(F.softmax(scores + attention_mask, dim=-1))
    + F.softmax(scores + attention_mask, dim=-1) * self.dropout(torch.ones_like(scores[..., :1]))
attention_dropout_of_heads = attention_dropout_shared
    - self.dropout(F.softmax(scores + attention_mask, dim=-1))
    + F.dropout2d(F.softmax(scores + attention_mask, dim=-1), self.dropout.p, self.training)
""",
)
