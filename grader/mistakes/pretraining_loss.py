"""What goes wrong in the joint loss of pre-training."""

from tensormark.authoring.variants import mistakes

VARIANTS = mistakes(
    "pretraining_loss",
    """
## Tokens

ignored_counted: tokens without a label are counted as if their label were 0
    - labels.flatten(), ignore_index=IGNORED
    + labels.clamp(min=0).flatten()
ignored_in_mean: the token loss is divided by the number of all tokens
    - ignore_index=IGNORED
    -     )
    + ignore_index=IGNORED, reduction="sum"
    +     ) / labels.numel()
padding_ignored: tokens whose label is 0 are ignored
    - labels.flatten(), ignore_index=IGNORED
    + labels.where(labels > 0, IGNORED).flatten()
tokens_summed: the token loss is a sum, not a mean
    - ignore_index=IGNORED
    + ignore_index=IGNORED, reduction="sum"
tokens_summed_by_row: the token loss is a sum, divided by the number of rows
    - ignore_index=IGNORED
    -     )
    + ignore_index=IGNORED, reduction="sum"
    +     ) / len(next_labels)
mean_of_row_means: the token loss averages the rows' means, whatever their numbers of tokens
    - F.cross_entropy(
    -         prediction_logits.flatten(0, -2), labels.flatten(), ignore_index=IGNORED
    -     )
    + torch.stack([F.cross_entropy(*row) for row in zip(prediction_logits, labels) if (row[1] != IGNORED).any()]).mean()
tokens_shifted: the labels are those of the next token, as in a model that generates text
    - prediction_logits.flatten(0, -2), labels.flatten()
    + prediction_logits[:, :-1].flatten(0, -2), labels[:, 1:].flatten()
logits_reshaped: the logits are transposed before they are flattened, and the labels are not
    - prediction_logits.flatten(0, -2)
    + prediction_logits.transpose(1, 2).reshape(-1, prediction_logits.shape[-1])
softmax_over_second: the softmax over the tokens' logits runs over the second axis, which is that of the tokens
    - F.cross_entropy(
    -         prediction_logits.flatten(0, -2)
    + F.nll_loss(
    +         prediction_logits.log_softmax(1).flatten(0, -2)
softmax_over_first: the softmax over the tokens' logits runs over the first axis
    - F.cross_entropy(
    -         prediction_logits.flatten(0, -2)
    + F.nll_loss(
    +         prediction_logits.log_softmax(0).flatten(0, -2)
softmax_before_loss: cross_entropy gets token probabilities, not logits
    - prediction_logits.flatten(0, -2)
    + prediction_logits.softmax(-1).flatten(0, -2)

## The sum

only_tokens: only the token loss is returned
    - tokens + F.cross_entropy(next_logits, next_labels)
    + tokens
only_next: only the next-sentence loss is returned
    - tokens + F.cross_entropy(next_logits, next_labels)
    + F.cross_entropy(next_logits, next_labels)
losses_averaged: the losses are averaged, not added
    - tokens + F.cross_entropy(next_logits, next_labels)
    + (tokens + F.cross_entropy(next_logits, next_labels)) / 2
losses_subtracted: the next-sentence loss is subtracted, not added
    - tokens + F.cross_entropy(next_logits, next_labels)
    + tokens - F.cross_entropy(next_logits, next_labels)
tokens_halved: the token loss counts half
    - tokens + F.cross_entropy(next_logits, next_labels)
    + 0.5 * tokens + F.cross_entropy(next_logits, next_labels)
next_halved: the next-sentence loss counts half
    - tokens + F.cross_entropy(next_logits, next_labels)
    + tokens + 0.5 * F.cross_entropy(next_logits, next_labels)
losses_in_one_mean: tokens and pairs share one mean, so many tokens outweigh the pairs
    - tokens + F.cross_entropy(next_logits, next_labels)
    + (tokens * (labels != IGNORED).sum() + F.cross_entropy(next_logits, next_labels, reduction="sum")) / ((labels != IGNORED).sum() + len(next_labels))
both_summed: both losses are sums, not means
    - ignore_index=IGNORED
    + ignore_index=IGNORED, reduction="sum"
    - (next_logits, next_labels)
    + (next_logits, next_labels, reduction="sum")
both_softmax_before_loss: cross_entropy gets probabilities, not logits, for both tasks
    - prediction_logits.flatten
    + prediction_logits.softmax(-1).flatten
    - (next_logits, next_labels)
    + (next_logits.softmax(-1), next_labels)
losses_without_logarithm: logits are used as log-probabilities: log_softmax is missing
    - tokens = F.cross_entropy
    + tokens = F.nll_loss
    - F.cross_entropy(next_logits
    + F.nll_loss(next_logits
losses_of_probabilities: probabilities are used as log-probabilities: the logarithm is missing
    - tokens = F.cross_entropy
    + tokens = F.nll_loss
    - F.cross_entropy(next_logits
    + F.nll_loss(next_logits.softmax(-1)
    - prediction_logits.flatten
    + prediction_logits.softmax(-1).flatten
next_binary_of_each: the next-sentence loss treats the two logits separately, without a softmax over them
    - F.cross_entropy(next_logits, next_labels)
    + F.binary_cross_entropy_with_logits(next_logits, F.one_hot(next_labels, 2).to(next_logits.dtype))
next_binary_of_second: the next-sentence loss looks at the second logit only
    - F.cross_entropy(next_logits, next_labels)
    + F.binary_cross_entropy_with_logits(next_logits[:, 1], next_labels.to(next_logits.dtype))
next_detached: no gradient comes from the next-sentence loss
    - (next_logits, next_labels)
    + (next_logits.detach(), next_labels)
losses_multiplied: the losses are multiplied
    - tokens + F.cross_entropy(next_logits, next_labels)
    + tokens * F.cross_entropy(next_logits, next_labels)
next_summed: the next-sentence loss is a sum, not a mean
    - (next_logits, next_labels)
    + (next_logits, next_labels, reduction="sum")
next_softmax_before_loss: cross_entropy gets next-sentence probabilities, not logits
    - (next_logits, next_labels)
    + (next_logits.softmax(-1), next_labels)
next_labels_exchanged: the two next-sentence classes are swapped
    - (next_logits, next_labels)
    + (next_logits, 1 - next_labels)
""",
)
