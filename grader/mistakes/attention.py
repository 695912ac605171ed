"""What goes wrong in attention: scores, scale, softmax and heads."""

from tensormark.authoring.variants import forms, mistakes

SCORES, SCALE = "query @ key.transpose(-2, -1)", " / math.sqrt(d)"
MASK, SOFTMAX = "scores + attention_mask", "F.softmax(scores + attention_mask, dim=-1)"
CONTEXT, MERGE = "probs @ value", "context.transpose(1, 2).reshape(B, T, H * d)"
SIZES = "B, H, T, d = query.shape"
NEXT_LINE = "\n        "
SPLIT_AGAIN = "x.reshape(B, T, H, d).transpose(1, 2) for x in (key, query, value)"

MISTAKES = (
    *mistakes(
        "attention",
        "The scores",
        {
            "key_query_exchanged": (
                "key and query are exchanged",
                *(SCORES, "key @ query.transpose(-2, -1)"),
            ),
            "key_value_exchanged": (
                "key and value are exchanged",
                *(SCORES, "query @ value.transpose(-2, -1)"),
                *(CONTEXT, "probs @ key"),
            ),
            "query_value_exchanged": (
                "query and value are exchanged",
                *(SCORES, "value @ key.transpose(-2, -1)"),
                *(CONTEXT, "probs @ query"),
            ),
            "keys_gathered": (
                "the keys are gathered where the values should be",
                *(CONTEXT, "probs @ key"),
            ),
            "queries_with_queries": (
                "the queries are compared with each other, not with the keys",
                *(SCORES, "query @ query.transpose(-2, -1)"),
            ),
            "queries_with_values": (
                "the queries are compared with the values, not with the keys",
                *(SCORES, "query @ value.transpose(-2, -1)"),
            ),
            "keys_of_first_head": (
                "every head uses the keys of the first head",
                *(SCORES, "query @ key[:, :1].transpose(-2, -1)"),
            ),
            "values_of_first_head": (
                "every head uses the values of the first head",
                *(CONTEXT, "probs @ value[:, :1]"),
            ),
            "own_value_only": (
                "each token gets its own value: the probabilities are summed away",
                *(CONTEXT, "probs.sum(-1, keepdim=True) * value"),
            ),
            "scores_without_query": (
                "the query is not used: the scores depend on the keys only",
                *(SCORES, "torch.ones_like(query) @ key.transpose(-2, -1)"),
            ),
            "scores_by_distance": (
                "query and key are compared by their distance, not by their product",
                *(SCORES, "-torch.cdist(query, key)"),
            ),
            "key_reshaped": (
                "the key is reshaped where it should be transposed",
                *(SCORES, "query @ key.reshape(B, H, d, T)"),
            ),
            "key_of_other_tokens": (
                "the keys are in the wrong order",
                *(SCORES, "query @ key.flip(2).transpose(-2, -1)"),
            ),
            "probabilities_transposed": (
                "each token is weighted by the probabilities of the others, not by its own",
                *(CONTEXT, "probs.transpose(-2, -1) @ value"),
            ),
        },
    ),
    *mistakes(
        "attention",
        "The scale",
        {
            "no_scale": ("the scores are not scaled", *(SCALE, "")),
            "scale_by_width": (
                "the scores are scaled by the width of the model, not of a head",
                *(SCALE, " / math.sqrt(H * d)"),
            ),
            "scale_by_heads": (
                "the scores are scaled by the number of heads, not by the width of a head",
                *(SCALE, " / math.sqrt(H)"),
            ),
            "scale_by_length": (
                "the scores are scaled by the number of tokens, not by the width of a head",
                *(SCALE, " / math.sqrt(T)"),
            ),
            "scale_twice": ("the scores are scaled twice, or without the root", *(SCALE, " / d")),
            "scale_rounded": (
                "the root of the width of a head is cut to a whole number",
                *(SCALE, " / int(math.sqrt(d))"),
            ),
            "scale_hard_coded": (
                "the scale is written into the code: it is that of heads of 64 units",
                *(SCALE, " / 8.0"),
            ),
            "scale_multiplied": (
                "the scores are multiplied by what they should be divided by",
                *(SCALE, " * math.sqrt(d)"),
            ),
            "scale_precedence": (
                "the scores are divided by 2 d: in Python, d ** -1 / 2 is (d ** -1) / 2",
                *(SCALE, " * d ** -1 / 2"),
            ),
            "scale_by_half": (
                "the scores are divided by d / 2: in Python, d ** 1 / 2 is (d ** 1) / 2",
                *(SCALE, " / (d ** 1 / 2)"),
            ),
            "scale_squared": (
                "the scores are divided by the square of d, not by its root",
                *(SCALE, " / d ** 2"),
            ),
            "scale_after_softmax": (
                "the scale comes after the softmax",
                *(SCALE, ""),
                *(SOFTMAX, SOFTMAX + SCALE),
            ),
        },
    ),
    *mistakes(
        "attention",
        "The softmax",
        {
            "softmax_over_queries": (
                "the softmax runs over the queries, not over the keys",
                *("dim=-1", "dim=-2"),
            ),
            "softmax_over_heads": ("the softmax runs over the heads", *("dim=-1", "dim=1")),
            "softmax_over_batch": ("the softmax runs over the batch", *("dim=-1", "dim=0")),
            "no_softmax": ("there is no softmax", *(SOFTMAX, f"({MASK})")),
            "softmax_twice": (
                "there are two softmaxes",
                *("F.softmax(scores", "F.softmax(F.softmax(scores"),
                *("dim=-1", "dim=-1), dim=-1"),
            ),
            "log_softmax": (
                "the logarithm of the probabilities is used",
                *("F.softmax", "F.log_softmax"),
            ),
            "sigmoid": (
                "a sigmoid takes the place of the softmax",
                *(SOFTMAX, f"torch.sigmoid({MASK})"),
            ),
            "exponentials_not_divided": (
                "the exponentials are not divided by their sum",
                *(SOFTMAX, f"torch.exp({MASK})"),
            ),
            "softmax_over_everything": (
                "the exponentials are divided by the sum of all of them, not of each row's",
                *(SOFTMAX, f"torch.exp({MASK}) / torch.exp({MASK}).sum()"),
            ),
            "softmax_of_context": (
                "the softmax is applied to what is gathered",
                *(SOFTMAX, f"({MASK})"),
                *(CONTEXT, "F.softmax(probs @ value, dim=-1)"),
            ),
        },
    ),
    *mistakes(
        "attention",
        "The heads",
        {
            "heads_not_transposed": (
                "the heads are merged without moving tokens in front of heads",
                *(MERGE, "context.reshape(B, T, H * d)"),
            ),
            "heads_not_merged": ("the heads are not merged: (B, H, T, d)", *(MERGE, "context")),
            "heads_left_apart": (
                "the heads are not merged: (B, T, H, d)",
                *(MERGE, "context.transpose(1, 2)"),
            ),
            "heads_interleaved": (
                "the units of the heads are interleaved, not side by side",
                *(MERGE, "context.permute(0, 2, 3, 1).reshape(B, T, H * d)"),
            ),
            "heads_merged_by_unit": (
                "the wrong two axes are exchanged before the heads are merged",
                *(MERGE, "context.transpose(2, 3).reshape(B, T, H * d)"),
            ),
            "axes_misread": (
                "sizes are read from the wrong axes: heads come before tokens",
                *(SIZES, "B, T, H, d = query.shape"),
            ),
            "heads_split_again": (
                "key, query and value are split into heads again, which they already are",
                *(SIZES, f"{SIZES}{NEXT_LINE}key, query, value = ({SPLIT_AGAIN})"),
            ),
            "heads_averaged": ("the heads are averaged", *(MERGE, "context.mean(dim=1)")),
            "heads_summed": ("the heads are added up", *(MERGE, "context.sum(dim=1)")),
            "first_head_only": ("only the first head is returned", *(MERGE, "context[:, 0]")),
            "heads_reversed": (
                "the heads are in the wrong order",
                *(MERGE, MERGE.replace("context", "context.flip(1)")),
            ),
            "length_hard_coded": (
                "the number of tokens is written into the code",
                *(MERGE, MERGE.replace("T", "512")),
            ),
        },
    ),
    *mistakes(
        "attention",
        "Gradients and types",
        {
            "probabilities_detached": (
                "gradients stop at the probabilities",
                *(CONTEXT, "probs.detach() @ value"),
            ),
            "attention_detached": (
                "gradients do not pass through attention's output",
                *(MERGE, MERGE + ".detach()"),
            ),
            "query_detached": (
                "gradients do not reach the query",
                *(SCORES, "query.detach() @ key.transpose(-2, -1)"),
            ),
            "value_detached": (
                "gradients do not reach the values",
                *(CONTEXT, "probs @ value.detach()"),
            ),
            "attention_in_float32": (
                "attention always computes in float32, whatever its input",
                *(CONTEXT, "probs.float() @ value.float()"),
            ),
            "query_changed": (
                "the query is changed in place",
                *(SCALE, ""),
                *(SIZES, SIZES + NEXT_LINE + "query /= math.sqrt(d)"),
            ),
        },
    ),
    *mistakes(
        "attention",
        "The heads",
        {
            "query_value_projections_swapped": (
                "the given forward was changed: the projections of query and value are swapped",
                *("value = self.transform(hidden_states, self.value)", "value = QUERY"),
                *(
                    "query = self.transform(hidden_states, self.query)",
                    "query = self.transform(hidden_states, self.value)",
                ),
                *("QUERY", "self.transform(hidden_states, self.query)"),
            ),
            "heads_split_wrongly": (
                "the given transform was changed: it splits units, not heads",
                *("x.transpose(1, 2)  # (B, H, T, d)", "x.reshape(B, x.shape[2], T, x.shape[3])"),
            ),
        },
        everywhere=True,
    ),
)

NAMED = {one.id: one for one in MISTAKES}
VARIANTS = (
    *MISTAKES,
    *forms(NAMED["key_reshaped"], {"key_viewed": (SCORES, "query @ key.view(B, H, d, T)")}),
    *forms(
        NAMED["softmax_over_heads"],
        {
            "softmax_over_heads_of_scaled_mask": (
                *(SCALE, ""),
                *(SOFTMAX, "F.softmax((scores + attention_mask) / math.sqrt(d), dim=1)"),
            )
        },
    ),
    *forms(
        NAMED["heads_averaged"],
        {"heads_averaged_and_repeated": (MERGE, "context.mean(dim=1).repeat(1, 1, H)")},
    ),
)
