"""What attention does to shapes: the two forms of the mask, splitting and merging heads."""

from collections.abc import Sequence

from instructor.figures.checkpoint import Checkpoint
from instructor.figures.svg import LARGE, Drawing

OF_TOKENS = ("blue", "yellow", "red")

Cells = Sequence[Sequence[int]]


def mask(_: Checkpoint) -> str:
    """Draw both forms of the mask, and how the second broadcasts."""
    drawing = Drawing(
        "The two forms of the mask",
        "On the left three sentences of four, two and one tokens: 1 for a token, 0 for padding. On "
        "the right the same with 0 for a token and -10000 for padding. Below, the row of the "
        "second sentence is added to each row of the scores of each head, so that the columns "
        "of the padding are hidden.",
    )
    real = [[place < length for place in range(4)] for length in (4, 2, 1)]
    kinds = [["plain" if one else "hidden" for one in row] for row in real]
    headed(drawing, 96, "attention_mask", "(B, T)")
    for place in range(len(real)):
        drawing.text((36, 54 + 24 * place), f"row {place}", anchor="end")
    drawing.grid((40, 42), (28, 24), [["1" if one else "0" for one in row] for row in real], kinds)
    drawing.line((157, 78), (194, 78))
    drawing.text((176, 130), "get_extended_attention_mask", "mono")
    headed(drawing, 297, "extended", "(B, 1, 1, T)")
    added = [["0" if one else "-10000" for one in row] for row in real]
    drawing.grid((198, 42), (49.5, 24), added, kinds)

    drawing.text((200, 172), "Row 1, added to the scores of its sentence", "bold")
    drawing.text((58, 226), "mask", anchor="end")
    for query in range(4):
        drawing.text((58, 276 + 26 * query), f"query {query}", anchor="end")
    for head, left in enumerate((64, 248)):
        broadcast(drawing, head, left, kinds[1])
    return drawing.finished(384)


def headed(drawing: Drawing, x: float, name: str, shape: str) -> None:
    """Write the name and the shape of a tensor at the top."""
    drawing.text((x, 14), name, "mono")
    drawing.text((x, 30), shape)


def broadcast(drawing: Drawing, head: int, left: float, kinds: Sequence[str]) -> None:
    """Draw the scores of one head, which a row of the mask is added to."""
    drawing.text((left + 64, 198), f"head {head}: (T, T)")
    row = ["0" if kind == "plain" else "-1e4" for kind in kinds]
    drawing.grid((left, 214), (32, 24), [row], [kinds])
    for place in range(len(kinds)):
        drawing.down(left + 16 + 32 * place, 238, 262)
    names = [[f"s{query}{key}" for key in range(4)] for query in range(4)]
    drawing.grid((left, 263), (32, 26), names, [kinds] * 4)


def heads(_: Checkpoint) -> str:
    """Draw what lands where when heads are split and merged, done right and wrong."""
    drawing = Drawing(
        "Splitting and merging heads",
        "Three tokens with four numbers each are split into two heads of width 2. Done right, "
        "each head has two numbers of every token; done wrong, the first head has all four "
        "numbers of the first token and two of the second. Merged right, each token has its four "
        "numbers back; merged wrong, its row has numbers of two tokens.",
    )
    x = [[4 * token + unit for unit in range(4)] for token in range(3)]
    split = [[row[2 * head : 2 * head + 2] for row in x] for head in range(2)]
    drawing.text((200, 14), "x (1, T, D) = (1, 3, 4), split into H = 2 heads", "bold")
    numbers(drawing, 144, 28, x)
    for token in range(3):
        drawing.text((136, 40 + 24 * token), f"token {token}", anchor="end")
    drawing.line((144, 106), (104, 132))
    drawing.line((256, 106), (296, 132))
    two_heads(drawing, 38, "right", split, ("view (1, T, H, d),", "then T and H change places"))
    two_heads(
        drawing,
        238,
        "wrong",
        [pairs_in(x)[:3], pairs_in(x)[3:]],
        ("view (1, H, T, d):", "head 0 mixes tokens"),
    )

    drawing.text((200, 312), "the right heads (1, H, T, d), merged to (1, T, D)", "bold")
    flat = [pair for head in split for pair in head]
    merged(drawing, 46, "right", x, "axes in the right order first")
    spoiled = [flat[i] + flat[i + 1] for i in range(0, len(flat), 2)]
    merged(drawing, 242, "wrong", spoiled, "merged as they lie in memory")
    return drawing.finished(454)


def pairs_in(cells: Cells) -> list[list[int]]:
    """Return the numbers of a matrix in pairs, as they lie in memory."""
    return [list(row[place : place + 2]) for row in cells for place in range(0, len(row), 2)]


def verdict(drawing: Drawing, x: float, y: float, sign: str) -> None:
    """Write whether it is right or wrong, with a mark."""
    drawing.text((x, y), f"{'✓' if sign == 'right' else '✗'} {sign}", "bold", size=LARGE)


def numbers(drawing: Drawing, x: float, y: float, cells: Cells) -> None:
    """Draw numbers, colored by the token that they belong to."""
    kinds = [[OF_TOKENS[one // 4] for one in row] for row in cells]
    drawing.grid((x, y), (28, 24), [[str(one) for one in row] for row in cells], kinds)


def two_heads(
    drawing: Drawing, left: float, sign: str, heads: Sequence[Cells], words: Sequence[str]
) -> None:
    """Draw two heads, side by side."""
    verdict(drawing, left + 62, 146, sign)
    for head, cells in enumerate(heads):
        drawing.text((left + 28 + 68 * head, 168), f"head {head}")
        numbers(drawing, left + 68 * head, 180, cells)
    for place, one in enumerate(words):
        drawing.text((left + 62, 266 + 15 * place), one)


def merged(drawing: Drawing, left: float, sign: str, cells: Cells, words: str) -> None:
    """Draw what the heads become."""
    verdict(drawing, left + 56, 336, sign)
    numbers(drawing, left, 350, cells)
    drawing.text((left + 56, 436), words)
