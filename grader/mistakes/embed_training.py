"""What goes wrong with dropout in the embedding, and other forms of its mistakes."""

from grader.mistakes import embed
from grader.mistakes.embed import NORMED, SUM, WHOLE
from tensormark.authoring.variants import forms, mistakes

MISTAKES = mistakes(
    "embed",
    "Dropout",
    {
        "embed_no_dropout": ("dropout is missing in training", *("self.embed_dropout(", "(")),
        "embed_dropout_before_norm": (
            "dropout comes before the norm, not after it",
            *(WHOLE, f"self.embed_layer_norm(self.embed_dropout({SUM}))"),
        ),
        "embed_dropout_around_norm": (
            "dropout comes before the norm and once more after it",
            *(SUM, f"self.embed_dropout({SUM})"),
        ),
        "embed_dropout_on_words": (
            "dropout is on the word embedding only",
            *(WHOLE, f"self.embed_layer_norm(self.embed_dropout(words){SUM[5:]})"),
        ),
        "embed_dropout_twice": (
            "dropout is applied twice",
            *(WHOLE, f"self.embed_dropout({WHOLE})"),
        ),
        "embed_dropout_not_scaled": (
            "what dropout keeps is not scaled up",
            *(WHOLE, f"{NORMED} * (self.embed_dropout(torch.ones_like(words)) != 0)"),
        ),
        "embed_dropout_shared": (
            "dropout is drawn once for many values, not for each",
            *(WHOLE, f"{NORMED} * self.embed_dropout(torch.ones_like(words[..., :1]))"),
        ),
        "embed_dropout_always": (
            "dropout is active in eval mode too",
            *(WHOLE, f"F.dropout({NORMED}, self.embed_dropout.p)"),
        ),
        "embed_dropout_always_tenth": (
            "dropout of 0.1 is active in eval mode too",
            *(WHOLE, f"F.dropout({NORMED}, 0.1)"),
        ),
        "embed_dropout_always_half": (
            "dropout of 0.5 is active in eval mode too",
            *(WHOLE, f"F.dropout({NORMED})"),
        ),
        "embed_dropout_rate": (
            "the dropout rate is written into the code",
            *(WHOLE, f"F.dropout({NORMED}, 0.1, self.training)"),
        ),
    },
)

NAMED = {one.id: one for one in (*embed.VARIANTS, *MISTAKES)}
EACH = "self.embed_dropout(e) for e in (words, positions, token_types)"
VARIANTS = (
    *MISTAKES,
    *forms(
        NAMED["embed_norm_without_weights"],
        {
            "embed_norm_by_function": (NORMED, f"F.layer_norm({SUM}, words.shape[-1:])"),
            "embed_norm_made_anew": (NORMED, f"nn.LayerNorm(words.shape[-1])({SUM})"),
            "embed_norm_made_anew_with_eps": (
                *(NORMED, f"nn.LayerNorm(words.shape[-1], eps=1e-12)({SUM})"),
            ),
        },
    ),
    *forms(
        NAMED["embed_norm_over_tokens"],
        {
            "embed_norm_by_function_over_tokens": (NORMED, f"F.layer_norm({SUM}, words.shape[1:])"),
            "embed_norm_over_tokens_with_eps": (
                NORMED,
                f"F.layer_norm({SUM}, words.shape[1:], eps=self.embed_layer_norm.eps)"
                " * self.embed_layer_norm.weight + self.embed_layer_norm.bias",
            ),
        },
    ),
    *forms(
        NAMED["embed_dropout_shared"],
        {
            f"embed_dropout_shared_by_{whom}": (
                *(WHOLE, f"{NORMED} * self.embed_dropout(torch.ones_like(words[{part}]))"),
            )
            for whom, part in {"rows": ":1", "tokens": ":, :1"}.items()
        },
    ),
    *forms(
        NAMED["embed_dropout_before_norm"],
        {"embed_dropout_on_each": (WHOLE, f"self.embed_layer_norm(sum({EACH}))")},
    ),
)
