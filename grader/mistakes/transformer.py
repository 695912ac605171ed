"""What goes wrong in positions without learning and in the causal mask."""

from tensormark.authoring.variants import mistakes

EXPONENT, ANGLE = "torch.arange(0, width, 2)", "angle = position * frequency"
TABLE = "torch.stack((torch.sin(angle), torch.cos(angle)), dim=-1).flatten(1)"
ALLOWED = "earlier * attention_mask[:, None, None, :]"
MASK = "(1.0 - allowed) * HIDDEN"

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
            "table_transposed": ("rows and columns are exchanged", *(TABLE, f"{TABLE}.T")),
            "table_of_a_batch": ("the table has an axis for the batch", *(TABLE, f"{TABLE}[None]")),
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
            "frequency_of_each_column": (
                "both columns of a pair should have the frequency of the first",
                *(EXPONENT, "torch.arange(width)"),
                *(TABLE, "torch.where(torch.arange(width) % 2 == 0, angle.sin(), angle.cos())"),
            ),
            "frequency_of_twice_each_column": (
                "the exponent counts columns twice, and is another for each column of a pair",
                *(EXPONENT, "2 * torch.arange(width)"),
                *(TABLE, "torch.where(torch.arange(width) % 2 == 0, angle.sin(), angle.cos())"),
            ),
            "frequency_over_width": (
                "the power is divided by the width, not the exponent",
                *(
                    "torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))",
                    "10000.0 ** -torch.arange(0, width, 2) / width",
                ),
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
            "only_future_shown": (
                "each token sees what comes after it only, and not itself",
                *(".tril()", ".triu(1)"),
            ),
            "itself_hidden": ("a token may not look at itself", *(".tril()", ".tril(-1)")),
            "one_too_many": ("a token may look at the one after it", *(".tril()", ".tril(1)")),
            "not_causal": ("what comes later is not hidden", *(".tril()", "")),
        },
    ),
    *mistakes(
        "causal_mask",
        "Padding",
        {
            "padding_shown": (
                "padding is not hidden as a key, from the tokens that look at it",
                *(ALLOWED, "earlier.expand(len(attention_mask), 1, T, T)"),
            ),
            "padding_for_tokens": (
                "padding is shown, and tokens are hidden",
                *("* attention_mask[:", "* (1 - attention_mask)[:"),
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
            "mask_transposed": (
                "rows and columns are exchanged: each column says what its token sees",
                *(MASK, f"({MASK}).mT"),
            ),
            "mask_positive": (
                "hidden positions have the wrong sign",
                *(MASK, "(allowed - 1.0) * HIDDEN"),
            ),
            "mask_of_other_number": (
                "hidden positions have another number than HIDDEN",
                *("* HIDDEN", "* -1e9"),
            ),
            "mask_of_truths": (
                "the mask has true and false, but it is added to the scores",
                *(MASK, "allowed.bool()"),
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
)
