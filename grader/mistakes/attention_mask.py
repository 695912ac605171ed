"""What goes wrong with the mask in attention."""

from tensormark.authoring.variants import forms, mistakes

SOFTMAX, MASK = "F.softmax(scores + attention_mask, dim=-1)", "scores + attention_mask"
CONTEXT, MERGE = "probs @ value", "context.transpose(1, 2).reshape(B, T, H * d)"
SIZES = "B, H, T, d = query.shape"
KEPT = 'self.kept = getattr(self, "kept", attention_mask)'
BY_LIBRARY = "F.scaled_dot_product_attention(query, key, value, attention_mask.bool(), RATE)"

MISTAKES = mistakes(
    "attention",
    "The mask",
    {
        "mask_ignored": ("the mask has no effect: padding is attended to", *(MASK, "scores")),
        "mask_multiplied": (
            "the mask is multiplied into the scores",
            *(MASK, "scores * attention_mask"),
        ),
        "mask_after_softmax": (
            "the mask is added after the softmax",
            *(SOFTMAX, "F.softmax(scores, dim=-1) + attention_mask"),
        ),
        "mask_subtracted": (
            "the mask is subtracted: padding is seen and tokens are not",
            *(MASK, "scores - attention_mask"),
        ),
        "mask_hides_tokens": (
            "the mask hides the tokens and shows the padding",
            *(MASK, "scores.masked_fill(attention_mask == 0, -1e9)"),
        ),
        "mask_hides_tokens_by_inf": (
            "the mask hides the tokens with -inf and shows the padding",
            *(MASK, 'scores.masked_fill(attention_mask == 0, float("-inf"))'),
        ),
        "mask_extended_again": (
            "the mask is converted to its additive form a second time",
            *(MASK, "scores + (1.0 - attention_mask) * -10000.0"),
        ),
        "mask_of_first_row": (
            "every row of the batch gets the mask of the first one",
            *(MASK, "scores + attention_mask[:1]"),
        ),
        "mask_of_plus_inf": (
            "padding gets a score of plus infinity: the softmax of that is NaN",
            *(MASK, 'scores.masked_fill(attention_mask < 0, float("inf"))'),
        ),
        "mask_too_weak": (
            "the mask lowers the scores of padding only a little",
            *(MASK, "scores + 1e-4 * attention_mask"),
        ),
        "mask_on_queries": (
            "the mask is added to the rows of queries, not to the columns of keys",
            *(MASK, "scores + attention_mask.transpose(-2, -1)"),
        ),
        "mask_of_future": (
            "tokens cannot see those after them, as in a decoder; BERT reads both ways",
            *(MASK, "scores.masked_fill(torch.ones(T, T).triu(1) > 0, -1e9) + attention_mask"),
        ),
        "mask_of_future_only": (
            "the mask hides the tokens that follow, not the padding",
            *(MASK, "scores.masked_fill(torch.ones(T, T).triu(1) > 0, -1e9)"),
        ),
        "mask_on_values": (
            "the mask is added to what is gathered, not to the scores",
            *(MASK, "scores"),
            *(CONTEXT, "probs @ value + attention_mask.transpose(-2, -1)"),
        ),
        "mask_zeroes_probabilities": (
            "padding is removed after the softmax, so the rest no longer sums to 1",
            *(SOFTMAX, "F.softmax(scores, dim=-1) * (attention_mask == 0)"),
        ),
        "attention_padding_blanked": (
            "the vectors of padding are set to 0",
            *(MERGE, f"{MERGE} * (attention_mask[:, 0, 0, :, None] == 0)"),
        ),
        "mask_kept": (
            "the mask of the first call is kept and used for all others",
            *(SIZES, f"{SIZES}\n        {KEPT}"),
            *(MASK, "scores + self.kept"),
        ),
        "mask_zeroes_scores": (
            "the mask sets scores to 0, which is not a probability of 0 after the softmax",
            *(MASK, "scores * (attention_mask == 0)"),
        ),
    },
)

NAMED = {one.id: one for one in MISTAKES}
VARIANTS = (
    *MISTAKES,
    *forms(
        NAMED["mask_too_weak"],
        {
            "mask_of_minus_ten": (MASK, "scores + 1e-3 * attention_mask"),
            "filled_with_minus_ten": (MASK, "scores.masked_fill(attention_mask < 0, -10.0)"),
            "filled_with_minus_one": (MASK, "scores.masked_fill(attention_mask < 0, -1.0)"),
        },
    ),
    *forms(
        NAMED["mask_extended_again"],
        {
            "mask_multiplied_again": (MASK, "scores + attention_mask * -10000.0"),
            "mask_multiplied_in_place": (MASK, "scores + attention_mask.mul_(-10000.0)"),
            "mask_multiplied_by_billion": (MASK, "scores + attention_mask * -1e9"),
            "mask_extended_by_billion": (MASK, "scores + (1.0 - attention_mask) * -1e9"),
        },
    ),
    *forms(
        NAMED["mask_of_future"],
        {
            "future_filled_with_mask": (
                MASK,
                "scores.masked_fill(torch.ones(T, T).triu(1) > 0, -1e4) + attention_mask",
            )
        },
    ),
    *forms(
        NAMED["mask_hides_tokens"],
        {
            "mask_hides_tokens_by_library": (
                *(CONTEXT, BY_LIBRARY.replace("RATE", "self.dropout.p * self.training")),
            )
        },
    ),
)
