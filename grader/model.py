"""Calls of a small BERT, with its sizes and config."""

import dataclasses
from typing import Any

from tensormark.exercise import Call


@dataclasses.dataclass(frozen=True)
class Sizes:
    """The sizes of a small random model and its input; all distinct, to expose confused axes.

    B batch, T tokens, H heads, d head width, F feed-forward width, V vocabulary.
    """

    B: int = 3
    T: int = 7
    H: int = 2
    d: int = 5
    F: int = 17
    layers: int = 3
    V: int = 29
    positions: int = 11
    lengths: tuple[int, ...] = (4, 1, 7)  # tokens that are not padding, by row

    @property
    def D(self) -> int:
        """The width of the model."""
        return self.H * self.d

    def config(self, dropout: float) -> dict[str, Any]:
        """Return the arguments of a BertConfig of these sizes."""
        return {
            "vocab_size": self.V,
            "hidden_size": self.D,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.H,
            "intermediate_size": self.F,
            "max_position_embeddings": self.positions,
            "hidden_dropout_prob": dropout,
            "attention_probs_dropout_prob": dropout,
        }


# after a roll by one, the first and the last column are padding in every row
AROUND = Sizes(lengths=(4, 1, 5))
OTHER_SIZES = Sizes(B=1, T=4, H=3, d=2, F=11, layers=2, V=13, positions=5, lengths=(3,))
# exposes code that works in pieces, or cuts its input off
LONG = Sizes(B=1, T=70, H=3, d=2, F=11, layers=2, V=83, positions=72, lengths=(68,))


@dataclasses.dataclass(frozen=True)
class BertCall(Call):
    """A call of a class or a function of the submission.

    Attributes:
        sizes: of the model and the inputs; the model's are ignored with `checkpoint`.
        dropout: the rate of every dropout module, unless `rates` says otherwise.
        layer_norm_eps: of every norm, if not the default.
    """

    module: str = "bert"
    sizes: Sizes = Sizes()
    dropout: float = 0.1
    layer_norm_eps: float | None = None
    constants: tuple[str, ...] = ("attention_mask",)

    def message(self) -> dict[str, Any]:
        """Return the call as the JSON object sent to the worker."""
        config = self.sizes.config(self.dropout)
        if self.layer_norm_eps is not None:
            config["layer_norm_eps"] = self.layer_norm_eps
        return super().message() | {"config": config, "letters": self.letters}

    @property
    def letters(self) -> dict[str, int]:
        """The sizes of the call by the letters of the dimension key, for messages."""
        names = "BT" if self.checkpoint else "BTHdDF"
        if self.module == "pretraining":  # the heads, which do not depend on the layers
            names = "BTDV"
        return {name: getattr(self.sizes, name) for name in names}
