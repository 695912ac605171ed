"""The sizes of small models and of their inputs.

B batch, T tokens, H heads, d head width, D model width, F feed-forward width, V vocabulary; lengths
are the tokens of each row that are not padding. All are distinct, to expose confused axes.
"""

from typing import Any

from tensormark.toolkit import Sizes

# the fields of a BertConfig, and the sizes that they are
CONFIG = {
    "vocab_size": "V",
    "hidden_size": "D",
    "num_hidden_layers": "layers",
    "num_attention_heads": "H",
    "intermediate_size": "F",
    "max_position_embeddings": "positions",
    "hidden_dropout_prob": "dropout",
    "attention_probs_dropout_prob": "attention_dropout",
    "layer_norm_eps": "eps",
}
LETTERS = ("B", "T", "H", "d", "D", "F")  # in messages


class BertSizes(Sizes):
    """The sizes of a model, which the worker gets as the arguments of a BertConfig."""

    @property
    def letters(self) -> dict[str, Any]:
        """Those that messages name."""
        return {letter: self[letter] for letter in LETTERS if letter in self}

    def sent(self) -> dict[str, Any]:
        """Return these arguments, and the letters."""
        config = {name: self[size] for name, size in CONFIG.items() if size in self}
        return {"config": config, "letters": self.letters}


class HeadSizes(BertSizes):
    """The sizes of the heads and the loss of pre-training, which do not depend on the layers."""

    @property
    def letters(self) -> dict[str, Any]:
        """All of them."""
        return dict(self)

    def sent(self) -> dict[str, Any]:
        """Return the arguments of a BertConfig with one attention head, which fits every width."""
        sent = super().sent()
        return {**sent, "config": {**sent["config"], "num_attention_heads": 1}}


MAIN = BertSizes(
    B=3,
    T=7,
    H=2,
    d=5,
    D=10,
    F=17,
    V=29,
    layers=3,
    positions=11,
    lengths=(4, 1, 7),
    dropout=0.1,
    attention_dropout=0.2,
)
# after a roll by one, the first and the last column are padding in every row
AROUND = MAIN | {"lengths": (4, 1, 5)}
# in which int(sqrt(d)) is not sqrt(d - 1), as it is in MAIN; more layers than the checkpoint has
OTHER = MAIN | {
    "B": 1, "T": 4, "H": 4, "d": 3, "D": 12, "F": 19, "V": 13, "layers": 4, "positions": 5,
    "lengths": (3,),
}  # fmt: skip
# exposes code that works in pieces, or cuts its input off
LONG = OTHER | {"T": 70, "V": 83, "positions": 72, "lengths": (68,)}
# more rows than a batch of the fine-tune has, or one whose sentences are classified
ROWS = OTHER | {"B": 130, "T": 2, "H": 2, "D": 6, "layers": 1, "lengths": (2, 1) * 65}
ONE_TOKEN = {"T": 1, "lengths": (1, 1, 1)}  # instead of those of MAIN
HEADS = HeadSizes(B=3, T=7, D=10, V=29)
OTHER_HEADS = HeadSizes(B=1, T=4, D=6, V=13)
