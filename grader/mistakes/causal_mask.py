"""What goes wrong in the causal mask."""

from tensormark.authoring.variants import mistakes

VARIANTS = mistakes(
    "causal_mask",
    """
## What comes later

future_shown: each token sees later tokens, not earlier ones
    - .tril()
    + .triu()
only_future_shown: each token sees only later tokens, and not itself
    - .tril()
    + .triu(1)
itself_hidden: a token may not look at itself
    - .tril()
    + .tril(-1)
one_too_many: a token may look at the one after it
    - .tril()
    + .tril(1)
not_causal: later tokens are not hidden
    - .tril()
    +

## Padding

padding_shown: padding is not hidden as a key
    - earlier * attention_mask[:, None, None, :]
    + earlier.expand(len(attention_mask), 1, T, T)
padding_for_tokens: padding is shown, and tokens are hidden
    - * attention_mask[:
    + * (1 - attention_mask)[:
either_is_enough: a token is hidden only where it is both later and padding
    - earlier * attention_mask[:, None, None, :]
    + torch.maximum(earlier, attention_mask[:, None, None, :])

## The numbers

ones_and_zeros: the mask has ones and zeros, but it is added to the scores
    - (1.0 - allowed) * HIDDEN
    + allowed
mask_inverted: what should be hidden is shown, and vice versa
    - (1.0 - allowed) * HIDDEN
    + allowed * HIDDEN
hidden_twice: positions hidden for two reasons get HIDDEN twice
    - (1.0 - allowed) * HIDDEN
    + (1.0 - earlier) * HIDDEN + (1.0 - attention_mask[:, None, None, :]) * HIDDEN
mask_transposed: rows and columns are swapped: each column says what its token sees
    - (1.0 - allowed) * HIDDEN
    + ((1.0 - allowed) * HIDDEN).mT
mask_positive: hidden positions have the wrong sign
    - (1.0 - allowed) * HIDDEN
    + (allowed - 1.0) * HIDDEN
mask_of_other_number: hidden positions have a value other than HIDDEN
    - * HIDDEN
    + * -1e9
mask_of_truths: the mask is boolean, but it is added to the scores
    - (1.0 - allowed) * HIDDEN
    + allowed.bool()
heads_axis_missing: there is no axis for the heads
    - (1.0 - allowed) * HIDDEN
    + ((1.0 - allowed) * HIDDEN)[:, 0]
minus_infinity: hidden positions are minus infinity, not HIDDEN
    - (1.0 - allowed) * HIDDEN
    + torch.zeros_like(allowed).masked_fill(allowed == 0, -torch.inf)
""",
)
