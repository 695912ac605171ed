"""The configuration of a BERT model: a frozen dataclass, read from and written to config.json."""

import dataclasses
import json
from pathlib import Path

CONFIG_NAME = "config.json"
# what else a config.json of Hugging Face's may say, and what a minBERT model always is
FIXED = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "position_embedding_type": "absolute",
    "is_decoder": False,
    "add_cross_attention": False,
}


@dataclasses.dataclass(frozen=True)
class BertConfig:
    """Sizes and rates of a BERT model; the names are those of Hugging Face's config.json.

    The defaults are the sizes of bert-base-uncased.
    """

    vocab_size: int = 30522
    hidden_size: int = 768  # D, the width of the model
    num_hidden_layers: int = 12
    num_attention_heads: int = 12  # H; must divide hidden_size
    intermediate_size: int = 3072  # F, the width of the feed-forward part
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    initializer_range: float = 0.02
    layer_norm_eps: float = 1e-12
    pad_token_id: int = 0

    def __post_init__(self) -> None:
        """Reject impossible sizes.

        Raises:
            ValueError: a size is not a positive integer, a rate is outside [0, 1], or the
                heads do not divide the width.
        """
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.type is int:
                least = 0 if field.name == "pad_token_id" else 1
                if isinstance(value, bool) or not isinstance(value, int) or value < least:
                    raise ValueError(f"{field.name} must be an integer, {least} or more: {value!r}")
            elif isinstance(value, bool) or not isinstance(value, int | float):
                raise ValueError(f"{field.name} must be a number: {value!r}")
            elif field.name.endswith("_prob") and not 0.0 <= value <= 1.0:
                raise ValueError(f"{field.name} must be between 0 and 1: {value!r}")
        if self.hidden_size % self.num_attention_heads:
            raise ValueError(
                f"num_attention_heads ({self.num_attention_heads}) must divide "
                f"hidden_size ({self.hidden_size})"
            )

    @classmethod
    def from_json(cls, path: str | Path) -> "BertConfig":
        """Read a config.json; keys that make no difference to a model are ignored.

        Args:
            path: the file, or the checkpoint directory that contains it.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: the file is not JSON, a size in it is wrong, or it is of another kind of
                model; the message names the file.
        """
        path = Path(path)
        path = path / CONFIG_NAME if path.is_dir() else path
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(values, dict):
                raise ValueError("it should be one JSON object")
            for key, value in FIXED.items():
                if values.get(key, value) != value:
                    raise ValueError(f"{key} is {values[key]!r}; minBERT needs {value!r}")
            known = {field.name for field in dataclasses.fields(cls)}
            return cls(**{key: value for key, value in values.items() if key in known})
        except ValueError as error:  # json.JSONDecodeError and UnicodeDecodeError are ValueErrors
            raise ValueError(f"{path}: not a BERT config: {error}") from error

    def to_json(self, path: str | Path) -> None:
        """Write the config so that minBERT and Hugging Face transformers can read it."""
        values = dataclasses.asdict(self) | {"model_type": "bert", "hidden_act": "gelu"}
        text = json.dumps(values, indent=2, sort_keys=True) + "\n"
        Path(path).write_text(text, encoding="utf-8")
