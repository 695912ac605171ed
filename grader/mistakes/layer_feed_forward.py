"""What goes wrong in the feed-forward part of an encoder layer."""

from tensormark.authoring.variants import mistakes

SECOND = "self.add_norm(x, interm, *modules)"
H = "self.interm_dense(x)"
INTERM = f"self.interm_af({H})"

VARIANTS = mistakes(
    "layer",
    "The feed-forward part",
    {
        "gelu_missing": ("GELU is missing, or its result is discarded", *("self.interm_af(", "(")),
        "relu": ("ReLU is used instead of GELU", *("self.interm_af(", "F.relu(")),
        "tanh": ("tanh is used instead of GELU", *("self.interm_af(", "torch.tanh(")),
        "sigmoid_unit": (
            "a sigmoid is used instead of GELU",
            *("self.interm_af(", "torch.sigmoid("),
        ),
        "silu": ("SiLU is used instead of GELU", *("self.interm_af(", "F.silu(")),
        "gelu_before_dense": (
            "GELU comes before the first dense layer of the feed-forward part",
            *(INTERM, "self.interm_dense(self.interm_af(x))"),
        ),
        "gelu_by_tanh": (
            "the tanh approximation of GELU is used, not the exact form",
            *("self.interm_af(", 'F.gelu(approximate="tanh", input='),
        ),
        "gelu_by_sigmoid": (
            "x * sigmoid(1.702 x) approximates GELU; the exact form is needed",
            *(INTERM, f"{H} * torch.sigmoid(1.702 * {H})"),
        ),
        "gelu_without_half": ("GELU lacks its factor 0.5", *(INTERM, f"2.0 * self.interm_af({H})")),
        "gelu_without_root": (
            "GELU's error function gets x, not x divided by the root of 2",
            *(INTERM, f"0.5 * {H} * (1.0 + torch.erf({H}))"),
        ),
        "gelu_without_one": (
            "GELU lacks the 1 that is added to the error function",
            *(INTERM, f"0.5 * {H} * torch.erf({H} / 2.0**0.5)"),
        ),
        "gelu_without_factor": (
            "GELU lacks its factor x: that is the normal distribution's function",
            *(INTERM, f"0.5 * (1.0 + torch.erf({H} / 2.0**0.5))"),
        ),
        "gelu_halved_root": (
            "GELU's error function gets x / 2, not x divided by the root of 2",
            *(INTERM, f"0.5 * {H} * (1.0 + torch.erf({H} / 2.0))"),
        ),
        "gelu_precedence": (
            "GELU's error function gets x / 4: in Python, x / 2 ** 1 / 2 is (x / 2) / 2",
            *(INTERM, f"0.5 * {H} * (1.0 + torch.erf({H} / 2 ** 1 / 2))"),
        ),
        "gelu_by_tanh_inverted": (
            "the tanh approximation of GELU has the root of pi / 2, not of 2 / pi",
            *(
                INTERM,
                f"0.5 * {H} * (1.0 + torch.tanh((torch.pi / 2) ** 0.5"
                f" * ({H} + 0.044715 * {H} ** 3)))",
            ),
        ),
        "gelu_by_tanh_without_cube": (
            "the tanh approximation of GELU lacks its cube, and the exact form is needed",
            *(INTERM, f"0.5 * {H} * (1.0 + torch.tanh((2 / torch.pi) ** 0.5 * {H}))"),
        ),
        "gelu_on_context": (
            "GELU is applied to attention's output too",
            *("(x, context,", "(x, self.interm_af(context),"),
        ),
        "leaky_relu": ("leaky ReLU is used instead of GELU", *("self.interm_af(", "F.leaky_relu(")),
        "elu": ("ELU is used instead of GELU", *("self.interm_af(", "F.elu(")),
        "gelu_twice": ("GELU is applied twice", *(INTERM, f"self.interm_af({INTERM})")),
        "gelu_last": (
            "GELU comes after the second dense layer",
            *("self.interm_af(", "("),
            *(SECOND, "self.add_norm(x, interm, GELU_AFTER, *modules[1:])"),
            *("GELU_AFTER", "lambda y: self.interm_af(modules[0](y))"),
        ),
        "gelu_on_output": (
            "GELU is applied to the layer's output",
            *(SECOND, f"self.interm_af({SECOND})"),
        ),
        "interm_of_input": (
            "the feed-forward part reads the layer's input",
            *("self.interm_dense(x)", "self.interm_dense(hidden_states)"),
        ),
        "interm_of_context": (
            "the feed-forward part reads attention's output before its add_norm",
            *("self.interm_dense(x)", "self.interm_dense(context)"),
        ),
        "interm_dense_skipped": (
            "the first dense layer of the feed-forward part is skipped",
            *(INTERM, "self.interm_af(x)"),
        ),
    },
)
