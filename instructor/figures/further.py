"""What the extensions are about: where the norm stands, the decoder layer, pre-training."""

from collections.abc import Sequence

from instructor.figures.checkpoint import Checkpoint
from instructor.figures.svg import LARGE, SIZE, Drawing, width_of

TALL = 24


def norms(_: Checkpoint) -> str:
    """Draw a sublayer in post-norm and in pre-norm order."""
    drawing = Drawing(
        "Post-norm and pre-norm",
        "Post-norm: x goes through the sublayer f and dropout, x is added, and the norm is applied "
        "to the sum. Pre-norm: x goes through the norm, f and dropout, and x is added at the "
        "end, so that the way of the residual has no norm on it.",
    )
    in_order(drawing, 120, "post-norm", ("f", "dropout", "+", "norm"))
    in_order(drawing, 320, "pre-norm", ("norm", "f", "dropout", "+"))
    return drawing.finished(296)


def in_order(drawing: Drawing, x: float, name: str, steps: Sequence[str]) -> None:
    """Draw the steps of a sublayer below each other, around x."""
    drawing.text((x, 14), name, "bold", size=LARGE)
    drawing.text((x, 40), "x (B, T, D)")
    y = 50.0
    for step in steps:
        drawing.down(x, y, y + 26)
        y += 26
        if step == "+":
            drawing.line((x, 60), (x - 80, 60), (x - 80, y + 9), (x - 9, y + 9))
            drawing.plus((x, y + 9))
            y += 18
        else:
            drawing.box(x - 50, y, 100, TALL, [step], "yellow" if step == "norm" else "given")
            y += TALL
    drawing.down(x, y, y + 26)
    drawing.text((x, y + 35), "(B, T, D)")


CENTER = 174  # of the column of boxes in a decoder layer
SIDE = 292  # where what comes from the right begins


def decoder(_: Checkpoint) -> str:
    """Draw a decoder layer in post-norm order."""
    drawing = Drawing(
        "One decoder layer, in post-norm order",
        "Three sublayers, each followed by dropout, a sum with its input and its own norm: "
        "self_attention with self_mask, which hides later tokens; cross_attention with queries "
        "from the target, keys and values from encoded, and cross_mask, which hides the padding "
        "of the source; feed_forward.",
    )
    drawing.text((CENTER + 2, 14), "states", "mono", "end")
    drawing.note(CENTER + 8, 14, "(B, T, D)")
    end = sublayer(drawing, 24, ["self_attention"], "self_norm")
    side(drawing, 58, "self_mask", "(B, 1, T, T)")
    later = [["hidden" if key > query else "plain" for key in range(4)] for query in range(4)]
    drawing.grid((SIDE, 84), (14, 14), [[""] * 4] * 4, later)

    side(drawing, end + 34, "encoded", "(B, S, D)")
    side(drawing, end + 72, "cross_mask", "(B, 1, 1, S)")
    padding = [["plain"] * 3 + ["hidden"] * 2] * 4
    drawing.grid((SIDE, end + 98), (14, 14), [[""] * 5] * 4, padding)
    sources = ["queries: target", "keys, values: encoded"]
    end = sublayer(drawing, end, ["cross_attention", *sources], "cross_norm")
    end = sublayer(drawing, end, ["feed_forward", "wide, ReLU, narrow"], "feed_norm")
    drawing.down(CENTER, end, end + 26)
    drawing.text((CENTER, end + 35), "(B, T, D)")
    return drawing.finished(end + 50)


def side(drawing: Drawing, y: float, name: str, shape: str) -> None:
    """Draw an input that comes from the right."""
    drawing.note(SIDE, y, name, "mono")
    drawing.note(SIDE, y + 15, shape)
    drawing.line((SIDE - 4, y), (CENTER + 84, y))


def sublayer(drawing: Drawing, y: float, lines: list[str], norm: str) -> float:
    """Draw a sublayer with its dropout, residual and norm; return where it ends."""
    tall = 12 + 17 * len(lines)
    drawing.down(CENTER, y, y + 24)
    drawing.box(CENTER - 84, y + 24, 168, tall, lines)
    bottom = y + 24 + tall
    drawing.down(CENTER, bottom, bottom + 14)
    drawing.box(CENTER - 50, bottom + 14, 100, 20, ["dropout"])
    drawing.down(CENTER, bottom + 34, bottom + 44)
    drawing.line((CENTER, y + 10), (46, y + 10), (46, bottom + 53), (CENTER - 9, bottom + 53))
    drawing.plus((CENTER, bottom + 53))
    drawing.down(CENTER, bottom + 62, bottom + 74)
    drawing.box(CENTER - 84, bottom + 74, 168, TALL, [norm], "yellow")
    return bottom + 74 + TALL


PAIR = ("[CLS]", "violet", "is", "dull", "[SEP]", "avoid", "violet", "[SEP]")
HIDDEN = {1: "[MASK]", 3: "warm", 5: "avoid"}  # what the model reads in place of chosen tokens
FATES = {1: "80% [MASK]", 3: "10% random", 5: "10% stay"}
LEFT, STEP = 12, 47


def pretraining(known: Checkpoint) -> str:
    """Draw both tasks of pre-training on one pair of sentences."""
    drawing = Drawing(
        "Pre-training's two tasks",
        "A pair of sentences becomes one row of ids. Some tokens are hidden: most become [MASK], "
        "some a random token, some stay; their labels are their true ids. The model's "
        "pooler_output goes through nsp_head, which says whether the second sentence follows; "
        "its last_hidden_state goes through mlm_head, which says which tokens were hidden. "
        "pretraining_loss adds both losses.",
    )
    drawing.box(12, 8, 150, TALL, ["make_sentence_pairs"], "yours")
    drawing.line((162, 20), (250, 20))
    drawing.box(250, 8, 90, TALL, ["pair_batch"], "yours")
    drawing.down(295, 32, 58)
    caption(drawing, 48, "input_ids", "and")
    drawing.note(116, 48, "token_type_ids", "mono")
    drawing.note(226, 48, "(B, T)")
    row(drawing, 58, PAIR, ["plain"] * len(PAIR))
    second = PAIR.index("[SEP]") + 1
    types = "0" * second + "1" * (len(PAIR) - second)
    row(drawing, 82, types, ["blue" if one == "0" else "red" for one in types])
    tokens_hidden(drawing, known, 106)
    return heads_and_loss(drawing, 276)


def tokens_hidden(drawing: Drawing, known: Checkpoint, y: float) -> None:
    """Draw what the model reads, and what it is to predict."""
    drawing.down(295, y, y + 16)
    drawing.box(235, y + 16, 120, TALL, ["mask_tokens"], "yours")
    drawing.down(295, y + 40, y + 60)
    kinds = ["green" if place in HIDDEN else "plain" for place in range(len(PAIR))]
    caption(drawing, y + 50, "input_ids", "(B, T), hidden in part")
    row(drawing, y + 60, [HIDDEN.get(place, token) for place, token in enumerate(PAIR)], kinds)
    for place, words in FATES.items():
        drawing.text((LEFT + STEP * (place + 0.5), y + 95), words)
    caption(drawing, y + 119, "labels", "(B, T)")
    ids, _ = known.ids(PAIR), known.ids(tuple(HIDDEN.values()))
    label = [str(one) if place in HIDDEN else "-100" for place, one in enumerate(ids)]
    row(drawing, y + 129, label, kinds)


def caption(drawing: Drawing, y: float, name: str, shape: str) -> None:
    """Name the row of tokens that follows."""
    drawing.note(LEFT, y, name, "mono")
    drawing.note(LEFT + width_of(name, SIZE, "mono") + 8, y, shape)


def row(drawing: Drawing, y: float, cells: Sequence[str], kinds: Sequence[str]) -> None:
    """Draw a row with a cell for each token."""
    drawing.grid((LEFT, y), (STEP, 24), [cells], [kinds], 11.5)


def heads_and_loss(drawing: Drawing, y: float) -> str:
    """Draw the model, both heads and the loss."""
    right = LEFT + STEP * len(PAIR)
    drawing.box(110, y, 160, TALL, ["BertModel"])
    drawing.line((right, 178), (395, 178), (395, y + 12), (270, y + 12))
    drawing.line((150, y + 24), (150, y + 34), (110, y + 34), (110, y + 66))
    drawing.line((230, y + 24), (230, y + 34), (266, y + 34), (266, y + 66))
    drawing.text((104, y + 49), "pooler_output", "mono", "end")
    drawing.note(116, y + 49, "(B, D)")
    drawing.note(272, y + 49, "last_hidden_state", "mono")
    drawing.text((260, y + 49), "(B, T, D)", anchor="end")
    drawing.box(40, y + 66, 140, 40, ["nsp_head", "does it follow?"], "yours")
    drawing.box(196, y + 66, 140, 40, ["mlm_head", "which token was it?"], "yours")
    for x, shape in ((110, "(B, 2)"), (266, "(B, T, V)")):
        drawing.down(x, y + 106, y + 130)
        drawing.note(x + 6, y + 116, shape)
    drawing.box(40, y + 130, 296, 40, ["pretraining_loss", "the sum of both losses"], "yours")
    drawing.line((LEFT, 247), (5, 247), (5, y + 150), (40, y + 150))
    drawing.down(188, y + 170, y + 190)
    drawing.text((188, y + 199), "one number")
    drawing.legend(y + 222)
    return drawing.finished(y + 238)
