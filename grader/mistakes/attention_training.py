"""What goes wrong with dropout in attention: half of all solutions that are right otherwise."""

from tensormark.authoring.variants import forms, mistakes

DROPPED = "self.dropout(F.softmax(scores + attention_mask, dim=-1))"
SOFTMAX = "F.softmax(scores + attention_mask, dim=-1)"
CONTEXT = "probs @ value"

MISTAKES = mistakes(
    "attention",
    "Dropout",
    {
        "no_attention_dropout": (
            "no dropout on the attention probabilities in training",
            *("self.dropout(", "("),
        ),
        "attention_dropout_before_softmax": (
            "dropout comes before the softmax, on the masked scores",
            *(DROPPED, "F.softmax(self.dropout(scores + attention_mask), dim=-1)"),
        ),
        "attention_dropout_on_scores": (
            "dropout comes before the softmax, on the scores",
            *(DROPPED, "F.softmax(self.dropout(scores) + attention_mask, dim=-1)"),
        ),
        "attention_dropout_on_context": (
            "dropout is on the gathered values, not on the probabilities",
            *("self.dropout(", "("),
            *(CONTEXT, "self.dropout(probs @ value)"),
        ),
        "attention_dropout_on_values": (
            "dropout is on the values, not on the probabilities",
            *("self.dropout(", "("),
            *(CONTEXT, "probs @ self.dropout(value)"),
        ),
        "attention_dropout_on_both": (
            "dropout is on the probabilities and once more on what they gather",
            *(CONTEXT, "self.dropout(probs @ value)"),
        ),
        "attention_dropout_twice": (
            "dropout is applied twice to the attention probabilities",
            *(DROPPED, f"self.dropout({DROPPED})"),
        ),
        "attention_dropout_always": (
            "dropout on the attention probabilities is active in eval mode too",
            *(DROPPED, f"F.dropout({SOFTMAX}, self.dropout.p)"),
        ),
        "attention_dropout_always_half": (
            "dropout of 0.5 on the attention probabilities is active in eval mode too",
            *(DROPPED, f"F.dropout({SOFTMAX})"),
        ),
        "attention_dropout_always_tenth": (
            "dropout of 0.1 on the attention probabilities is active in eval mode too",
            *(DROPPED, f"F.dropout({SOFTMAX}, 0.1)"),
        ),
        "attention_dropout_half": (
            "the dropout rate of the attention probabilities is always 0.5, not the config's",
            *(DROPPED, f"F.dropout({SOFTMAX}, training=self.training)"),
        ),
        "attention_dropout_rate": (
            "the dropout rate of the attention probabilities is written into the code",
            *(DROPPED, f"F.dropout({SOFTMAX}, 0.1, self.training)"),
        ),
        "attention_dropout_not_scaled": (
            "the probabilities that dropout keeps are not scaled up",
            *(DROPPED, f"{SOFTMAX} * (self.dropout(torch.ones_like(scores)) != 0)"),
        ),
        "attention_dropout_shared": (
            "dropout is drawn once for many attention probabilities, not for each",
            *(DROPPED, f"{SOFTMAX} * self.dropout(torch.ones_like(scores[:, :1]))"),
        ),
    },
)
NAMED = {one.id: one for one in MISTAKES}
VARIANTS = (
    *MISTAKES,
    *forms(
        NAMED["attention_dropout_shared"],
        {
            f"attention_dropout_shared_by_{whom}": (
                *(DROPPED, f"{SOFTMAX} * self.dropout(torch.ones_like(scores[{part}]))"),
            )
            for whom, part in {"rows": ":1", "keys": "..., :1"}.items()
        },
    ),
)
