"""The model, from the outside to the inside: all of it, its embedding, one layer."""

from instructor.figures.checkpoint import Checkpoint
from instructor.figures.svg import Drawing

TOKENS = ("[CLS]", "not", "dull", ".", "[SEP]", "[PAD]")
LEFT, STEP = 134, 42  # where the columns of tokens begin, and their width
RIGHT, MIDDLE = LEFT + len(TOKENS) * STEP, LEFT + len(TOKENS) * STEP / 2
TALL = 24  # of a box with one line
CENTER = 186  # of the column of boxes in a layer


def labels(drawing: Drawing, y: float, name: str, *more: str) -> None:
    """Name a row of tokens on its left, with more lines below."""
    top = y - 7 * len(more)
    drawing.note(6, top, name, "mono")
    for place, words in enumerate(more, start=1):
        drawing.note(6, top + 14 * place, words)


def whole_model(known: Checkpoint) -> str:
    """Draw the way from ids to both outputs."""
    drawing = Drawing(
        "The whole model",
        "Input ids go through embed and then through encode, a stack of layers that all get the "
        "same extended mask, to last_hidden_state. Its first vector goes through pooler_dense and "
        "pooler_af to pooler_output.",
    )
    drawing.words_in_row(LEFT, 14, STEP, TOKENS)
    labels(drawing, 35, "attention_mask")
    mask = [["1" if token != "[PAD]" else "0" for token in TOKENS]]
    drawing.grid((LEFT, 24), (STEP, 22), mask, "plain")
    labels(drawing, 61, "input_ids")
    drawing.grid((LEFT, 50), (STEP, 22), [[str(one) for one in known.ids(TOKENS)]], "plain")

    middle = 160  # of what the tokens go through
    drawing.down(middle, 72, 96)
    drawing.note(middle + 6, 83, "(B, T)")
    drawing.box(middle - 100, 96, 200, TALL, ["embed"], "yours")
    drawing.line((RIGHT, 35), (394, 35), (394, 142), (332, 142), (332, 164))
    drawing.note(340, 130, "(B, T)")
    bottom = encode(drawing, middle, 156, known.sizes["num_hidden_layers"])
    return outputs(drawing, bottom)


def encode(drawing: Drawing, middle: float, top: float, layers: int) -> float:
    """Draw the stack of layers, and what extends the mask; return where it ends."""
    first, pitch = top + 60, TALL + 18
    last = first + (layers - 1) * pitch
    drawing.rectangle(8, top, 384, last + TALL + 10 - top, "yours", 4)
    drawing.note(16, top + 14, "encode", "on-yours mono")
    drawing.box(276, top + 8, 112, 36, ["get_extended_", "attention_mask"], mono=2)
    drawing.down(middle, 120, first)
    drawing.note(middle + 6, 134, "(B, T, D)")
    drawing.line((310, top + 44), (310, last + TALL / 2), arrow=False)
    drawing.note(316, top + 55, "(B, 1, 1, T)", "on-yours")
    for one in range(layers):
        y = first + one * pitch
        drawing.box(middle - 100, y, 200, TALL, [f"bert_layers[{one}]"], "yours")
        drawing.line((310, y + TALL / 2), (middle + 100, y + TALL / 2))
        if one:
            drawing.down(middle, y + TALL - pitch, y)
    drawing.down(middle, last + TALL, last + TALL + 36)
    return last + TALL + 36


def outputs(drawing: Drawing, y: float) -> str:
    """Draw both outputs below the stack of layers."""
    left, width = 10, 40
    kinds = [["blue", *["plain"] * (len(TOKENS) - 1)]]
    drawing.grid((left, y), (width, 34), [TOKENS], kinds)
    drawing.named(258, y + 9, "last_hidden_state", "(B, T, D)")
    y += 34
    drawing.down(left + 20, y, y + 26)
    drawing.note(left + 28, y + 12, "the vector of [CLS]: (B, D)")
    drawing.box(left, y + 26, 100, TALL, ["pooler_dense"])
    drawing.line((left + 100, y + 38), (left + 124, y + 38))
    drawing.box(left + 124, y + 26, 86, TALL, ["pooler_af"])
    drawing.line((left + 210, y + 38), (left + 236, y + 38))
    drawing.named(left + 242, y + 31, "pooler_output", "(B, D)")
    drawing.legend(y + 74)
    return drawing.finished(y + 90)


def embedding(known: Checkpoint) -> str:
    """Draw the sum of three embeddings."""
    drawing = Drawing(
        "The sum of three embeddings",
        "For each token a row of word_embedding, chosen by its id, a row of pos_embedding, chosen "
        "by its place, and a row of tk_type_embedding are added; then come embed_layer_norm and "
        "embed_dropout.",
    )
    ids = known.ids(TOKENS)
    drawing.words_in_row(LEFT, 14, STEP, TOKENS)
    labels(drawing, 35, "input_ids", "(B, T)")
    drawing.grid((LEFT, 24), (STEP, 22), [[str(one) for one in ids]], "plain")
    rows = (
        ("word_embedding", "(B, T, D)", "vocab_size", "blue", [f"w{one}" for one in ids]),
        ("pos_embedding", "(1, T, D)", "max_position_embeddings", "yellow", places("p")),
        ("tk_type_embedding", "(B, T, D)", "type_vocab_size", "green", ["t0"] * len(TOKENS)),
    )
    y = 66.0
    drawing.down(MIDDLE, 46, y)
    drawing.note(MIDDLE + 8, 55, "look up")
    for name, shape, size, kind, cells in rows:
        labels(drawing, y + 17, name, shape, f"one of {known.sizes[size]} rows")
        drawing.grid((LEFT, y), (STEP, 34), [cells], kind)
        if name != rows[0][0]:
            drawing.plus((MIDDLE, y - 13))
        y += 60
    return summed(drawing, y - 26)


def places(letter: str) -> list[str]:
    """Number the tokens."""
    return [f"{letter}{place}" for place in range(len(TOKENS))]


def summed(drawing: Drawing, y: float) -> str:
    """Draw the sum, and what comes after it."""
    drawing.down(MIDDLE, y, y + 24)
    labels(drawing, y + 41, "the sum", "(B, T, D)")
    for place, kind in enumerate(("blue", "yellow", "green")):
        drawing.grid((LEFT, y + 24 + 11 * place), (STEP, 11), [[""] * len(TOKENS)], kind)
    y += 57
    for name in ("embed_layer_norm", "embed_dropout"):
        drawing.down(MIDDLE, y, y + 22)
        drawing.box(MIDDLE - 80, y + 22, 160, TALL, [name])
        y += 22 + TALL
    drawing.down(MIDDLE, y, y + 22)
    drawing.text((MIDDLE, y + 31), "(B, T, D)")
    return drawing.finished(y + 46)


def layer(_: Checkpoint) -> str:
    """Draw one layer with every module."""
    drawing = Drawing(
        "One encoder layer",
        "From top to bottom: self_attention with query, key, value and attention; the first "
        "add_norm with attention_dense, attention_dropout, a sum with the layer's input, and "
        "attention_layer_norm; interm_dense and interm_af; the second add_norm with out_dense, "
        "out_dropout, a sum with the result of the first add_norm, and out_layer_norm.",
    )
    drawing.text((CENTER + 6, 14), "hidden_states", "mono", "end")
    drawing.note(CENTER + 12, 14, "(B, T, D)")
    drawing.down(CENTER, 24, 48)
    self_attention(drawing, 48)
    drawing.down(CENTER, 174, 194)
    add_norm(drawing, 34, 194, "attention", "attention_layer_norm")
    drawing.down(CENTER, 338, 368)
    drawing.note(CENTER + 8, 352, "y (B, T, D)")
    drawing.box(CENTER - 90, 368, 180, TALL, ["interm_dense"])
    drawing.down(CENTER, 392, 414)
    drawing.note(CENTER + 8, 402, "(B, T, F)")
    drawing.box(CENTER - 90, 414, 180, TALL, ["interm_af"])
    drawing.note(CENTER + 98, 426, "GELU")
    drawing.down(CENTER, 438, 462)
    drawing.note(CENTER + 8, 449, "(B, T, F)")
    add_norm(drawing, 348, 462, "out", "out_layer_norm")
    drawing.down(CENTER, 606, 628)
    drawing.text((CENTER, 637), "(B, T, D)")
    drawing.legend(662)
    return drawing.finished(678)


def self_attention(drawing: Drawing, y: float) -> None:
    """Draw the first sublayer, without its add and norm."""
    drawing.rectangle(CENTER - 102, y, 204, 126, "given", 4)
    drawing.note(CENTER - 94, y + 12, "self_attention", "on-given mono")
    for place, name in enumerate(("query", "key", "value")):
        x = CENTER - 94 + 65 * place
        drawing.box(x, y + 24, 58, TALL, [name])
        drawing.down(x + 29, y + 24 + TALL, y + 64)
    drawing.note(CENTER + 108, y + 56, "(B, H, T, d)")
    drawing.rectangle(CENTER - 94, y + 64, 188, 54, "yours", 4)
    drawing.text((CENTER, y + 75), "attention", "on-yours mono")
    drawing.box(CENTER - 40, y + 87, 80, TALL, ["dropout"])
    drawing.line((CENTER + 108, y + 90), (CENTER + 94, y + 90))
    drawing.named(CENTER + 110, y + 83, "attention_mask", "(B, 1, 1, T)")


def add_norm(drawing: Drawing, source: float, y: float, name: str, norm: str) -> None:
    """Draw an add and norm, which begins at y; its residual comes from the line at `source`."""
    drawing.rectangle(CENTER - 102, y, 204, 144, "yours", 4)
    drawing.note(CENTER + 110, y + 72, "add_norm", "mono")
    drawing.box(CENTER - 90, y + 10, 180, TALL, [f"{name}_dense"])
    drawing.down(CENTER, y + 34, y + 46)
    drawing.box(CENTER - 90, y + 46, 180, TALL, [f"{name}_dropout"])
    drawing.down(CENTER, y + 70, y + 80)
    drawing.line((CENTER, source), (50, source), (50, y + 89), (CENTER - 9, y + 89))
    drawing.plus((CENTER, y + 89))
    drawing.down(CENTER, y + 98, y + 110)
    drawing.box(CENTER - 90, y + 110, 180, TALL, [norm])
