"""What goes wrong in attention."""

from instructor.variants import Variant

VARIANTS = (
    Variant(
        "no_scale",
        "attention",
        "your output equals attention whose scores are not scaled",
        ((" / math.sqrt(d)", ""),),
    ),
    Variant(
        "mask_ignored",
        "attention",
        "your output equals attention computed without the mask",
        ((" + attention_mask", ""),),
    ),
    Variant(
        "no_attention_dropout",
        "attention",
        "no dropout on the attention probabilities in training",
        (("self.dropout(F.softmax(", "(F.softmax("),),
    ),
)
