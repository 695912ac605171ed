"""What goes wrong in positions without learning, the causal mask and the decoder layer."""

from tensormark.authoring.variants import mistakes

EXPONENT, ANGLE = "torch.arange(0, width, 2)", "angle = position * frequency"
TABLE = "torch.stack((torch.sin(angle), torch.cos(angle)), dim=-1).flatten(1)"
ALLOWED = "earlier * attention_mask[:, None, None, :]"
MASK = "(1.0 - allowed) * HIDDEN"
CROSS = "(self.cross_norm, lambda x: self.cross_attention(x, encoded, cross_mask)),"
SELF = "(self.self_norm, lambda x: self.self_attention(x, x, self_mask)),"
FEED = "(self.feed_norm, self.feed_forward),"
PRE = "states = states + self.dropout(sublayer(norm(states)))"
POST = "states = norm(states + self.dropout(sublayer(states)))"

VARIANTS = (
    *mistakes(
        "sinusoidal_positions",
        "The waves",
        {
            "sines_and_cosines_exchanged": (
                "sines and cosines are exchanged",
                *("(torch.sin(angle), torch.cos(angle))", "(torch.cos(angle), torch.sin(angle))"),
            ),
            "halves_not_interleaved": (
                "all sines come before all cosines; they should alternate",
                *(TABLE, "torch.cat((torch.sin(angle), torch.cos(angle)), dim=-1)"),
            ),
            "only_sines": (
                "all columns are sines",
                *("(torch.sin(angle), torch.cos(angle))", "(torch.sin(angle), torch.sin(angle))"),
            ),
            "angle_negative": (
                "the angles have the wrong sign",
                *(ANGLE, "angle = -position * frequency"),
            ),
            "full_turns": (
                "the angles are multiplied by two pi",
                *(ANGLE, "angle = 2 * math.pi * position * frequency"),
            ),
        },
    ),
    *mistakes(
        "sinusoidal_positions",
        "The frequencies",
        {
            "exponent_halved": (
                "the exponent uses the number of the pair, not of the column",
                *(EXPONENT, "torch.arange(width // 2)"),
            ),
            "exponent_doubled": (
                "the exponent counts columns twice",
                *(EXPONENT, "2 * torch.arange(0, width, 2)"),
            ),
            "frequency_rises": (
                "the frequencies rise from pair to pair; they should fall",
                *("(-math.log", "(math.log"),
            ),
            "frequency_of_1000": ("the base is not 10000", *("10000.0", "1000.0")),
            "one_frequency": ("all pairs have the same frequency", *(ANGLE, "angle = position")),
            "frequencies_to_the_end": (
                "the last frequency is 1 / 10000, which is one pair too early",
                *("/ width)", "/ max(width - 2, 1))"),
            ),
            "sinusoidal_from_one": (
                "positions are counted from 1",
                *("torch.arange(length)", "torch.arange(1, length + 1)"),
            ),
        },
    ),
    *mistakes(
        "causal_mask",
        "What comes later",
        {
            "future_shown": (
                "each token sees what comes after it, not what comes before it",
                *(".tril()", ".triu()"),
            ),
            "itself_hidden": (
                "a token may not look at itself",
                *(".tril()", ".tril(-1)"),
            ),
            "one_too_many": ("a token may look at the one after it", *(".tril()", ".tril(1)")),
            "not_causal": (
                "what comes later is not hidden",
                *(".tril()", ""),
            ),
        },
    ),
    *mistakes(
        "causal_mask",
        "Padding",
        {
            "padding_shown": (
                "padding is not hidden",
                *(ALLOWED, "earlier.expand(len(attention_mask), 1, T, T)"),
            ),
            "padding_by_row": (
                "padding is hidden as a query, not as a key",
                *("[:, None, None, :]", "[:, None, :, None]"),
            ),
            "either_is_enough": (
                "a token is hidden only where it is both later and padding",
                *(ALLOWED, "torch.maximum(earlier, attention_mask[:, None, None, :])"),
            ),
        },
    ),
    *mistakes(
        "causal_mask",
        "The numbers",
        {
            "ones_and_zeros": (
                "the mask has ones and zeros, but it is added to the scores",
                *(MASK, "allowed"),
            ),
            "mask_inverted": (
                "what should be hidden is shown, and vice versa",
                *(MASK, "allowed * HIDDEN"),
            ),
            "hidden_twice": (
                "positions hidden for two reasons get HIDDEN twice",
                *(
                    MASK,
                    "(1.0 - earlier) * HIDDEN + (1.0 - attention_mask[:, None, None, :]) * HIDDEN",
                ),
            ),
            "heads_axis_missing": (
                "there is no axis for the heads",
                *(MASK, "((1.0 - allowed) * HIDDEN)[:, 0]"),
            ),
            "minus_infinity": (
                "hidden positions are minus infinity, not HIDDEN",
                *(MASK, "torch.zeros_like(allowed).masked_fill(allowed == 0, -torch.inf)"),
            ),
        },
    ),
    *mistakes(
        "decoder_layer",
        "Three sublayers",
        {
            "self_attention_missing": ("the self-attention is missing", *(SELF, "")),
            "cross_attention_missing": (
                "the attention over the encoder's output is missing",
                *(CROSS, ""),
            ),
            "decoder_feed_forward_missing": ("the feed-forward part is missing", *(FEED, "")),
            "cross_before_self": (
                "the attention over the encoder's output comes before the self-attention",
                *(SELF, CROSS.replace("self.cross_norm", "self.self_norm")),
                *(CROSS, SELF.replace("self.self_norm", "self.cross_norm")),
            ),
            "cross_over_itself": (
                "the second attention is over the target, not the encoder's output",
                *(
                    "self.cross_attention(x, encoded, cross_mask)",
                    "self.cross_attention(x, x, self_mask)",
                ),
            ),
            "self_over_encoded": (
                "the first attention is over the encoder's output, not the target",
                *(
                    "self.self_attention(x, x, self_mask)",
                    "self.self_attention(x, encoded, cross_mask)",
                ),
            ),
            "encoded_normalised": (
                "the encoder's output is normalised too",
                *("(x, encoded, cross_mask)", "(x, self.cross_norm(encoded), cross_mask)"),
            ),
        },
    ),
    *mistakes(
        "decoder_layer",
        "The masks",
        {
            "self_mask_dropped": (
                "the self-attention is computed without its mask",
                *("(x, x, self_mask)", "(x, x, 0 * self_mask)"),
            ),
            "cross_mask_dropped": (
                "the attention over the encoder's output is computed without its mask",
                *("(x, encoded, cross_mask)", "(x, encoded, 0 * cross_mask)"),
            ),
        },
    ),
    *mistakes(
        "decoder_layer",
        "Norms and residuals",
        {
            "always_post_norm": ("pre_norm makes no difference", *("if self.pre_norm", "if False")),
            "pre_and_post_exchanged": (
                "pre-norm and post-norm are exchanged",
                *("if self.pre_norm", "if not self.pre_norm"),
            ),
            "decoder_one_norm": (
                "the first norm is used for every sublayer",
                *("(self.cross_norm,", "(self.self_norm,"),
                *("(self.feed_norm,", "(self.self_norm,"),
            ),
            "decoder_norms_exchanged": (
                "the norms of the second and third sublayer are exchanged",
                *("(self.cross_norm,", "(self.feed_norm,"),
                *("(self.feed_norm, self.feed", "(self.cross_norm, self.feed"),
            ),
            "decoder_residual_missing": (
                "the residuals are missing",
                *(PRE, "states = self.dropout(sublayer(norm(states)))"),
                *(POST, "states = norm(self.dropout(sublayer(states)))"),
            ),
            "residual_of_norm": (
                "in pre-norm order the residual is the norm's output, not its input",
                *(PRE, "states = norm(states) + self.dropout(sublayer(norm(states)))"),
            ),
            "norm_before_residual": (
                "in post-norm order the norm comes before the residual sum",
                *(POST, "states = states + norm(self.dropout(sublayer(states)))"),
            ),
        },
    ),
    *mistakes(
        "decoder_layer",
        "Dropout",
        {
            "decoder_no_dropout": (
                "dropout is missing in training",
                *(
                    "states + self.dropout(sublayer(norm(states)))",
                    "states + sublayer(norm(states))",
                ),
                *(
                    "norm(states + self.dropout(sublayer(states)))",
                    "norm(states + sublayer(states))",
                ),
            ),
            "decoder_dropout_on_sum": (
                "dropout is on the sum, so it drops the residual too",
                *(PRE, "states = self.dropout(states + sublayer(norm(states)))"),
                *(POST, "states = norm(self.dropout(states + sublayer(states)))"),
            ),
        },
    ),
)
