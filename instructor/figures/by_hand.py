"""The attention of one head, with the numbers that the handout calculates."""

import math
from collections.abc import Sequence

from instructor.figures.checkpoint import Checkpoint
from instructor.figures.svg import LARGE, TIMES, Drawing

Matrix = Sequence[Sequence[float]]

# Queries, keys and values of three tokens in two heads of width 2. The last token is padding, and
# its values are large, so that they are noticed where they leak.
TOKENS = ("not", "dull", "[PAD]")
HEADS: tuple[tuple[Matrix, Matrix, Matrix], ...] = (
    (((2, 0), (0, 1), (2, 1)), ((1, 0), (2, 1), (1, 3)), ((1, 0), (3, 4), (9, 9))),
    (((0, 1), (1, 0), (1, 1)), ((3, 1), (1, 0), (0, 2)), ((0, 5), (1, 2), (7, 7))),
)
MASK = (0, 0, -10000)
TALL = 24  # of a cell


def turned(matrix: Matrix) -> Matrix:
    """Transpose a matrix."""
    return list(zip(*matrix, strict=True))


def product(a: Matrix, b: Matrix) -> Matrix:
    """Multiply two matrices."""
    pairs = [[zip(row, column, strict=True) for column in turned(b)] for row in a]
    return [[sum(x * y for x, y in pair) for pair in row] for row in pairs]


def softmax(row: Sequence[float]) -> list[float]:
    """Turn scores into probabilities."""
    powers = [math.exp(one - max(row)) for one in row]
    return [one / sum(powers) for one in powers]


def written(matrix: Matrix, digits: int = 0) -> list[list[str]]:
    """Write the numbers of a matrix."""
    return [[f"{one:.{digits}f}" for one in row] for row in matrix]


def by_hand(_: Checkpoint) -> str:
    """Draw the attention of the first head."""
    drawing = Drawing(
        "Attention in one head, with numbers",
        "Queries times transposed keys are scores, T by T. Divided by the root of d, and with the "
        "mask added to every row, they become probabilities, in which the column of the padding "
        "is 0. Probabilities times values are the output, one row for each token.",
    )
    query, key, value = HEADS[0]
    scores = product(query, turned(key))
    scaled = [[one / math.sqrt(len(query[0])) for one in row] for row in scores]
    masked = [[one + hidden for one, hidden in zip(row, MASK, strict=True)] for row in scaled]
    compared(drawing, query, key, scores)
    hidden_by_mask(drawing, 150, scaled)
    averaged(drawing, 286, [softmax(row) for row in masked], value)
    return drawing.finished(414)


def compared(drawing: Drawing, query: Matrix, key: Matrix, scores: Matrix) -> None:
    """Draw how queries and keys become scores."""
    titled(drawing, 88, 14, "Q", "(T, d)")
    rows(drawing, 60)
    drawing.grid((56, 48), (32, TALL), written(query), "blue")
    drawing.text((138, 84), TIMES, size=LARGE)
    titled(drawing, 212, 14, "K, transposed", "(d, T)")
    drawing.grid((164, 60), (32, TALL), written(turned(key)), "yellow")
    drawing.text((278, 84), "=", size=LARGE)
    titled(drawing, 344, 14, "scores", "(T, T)")
    drawing.grid((296, 48), (32, TALL), written(scores), "plain")


def hidden_by_mask(drawing: Drawing, y: float, scaled: Matrix) -> None:
    """Draw the scaled scores, and the mask that is added."""
    titled(drawing, 122, y, "scores / √d", "(T, T)")
    rows(drawing, y + 46)
    drawing.grid((56, y + 34), (44, TALL), written(scaled, 3), "plain")
    drawing.text((210, y + 70), "+", size=LARGE)
    titled(drawing, 311, y, "mask", "one row, for every query")
    kinds = ["hidden" if one else "plain" for one in MASK]
    drawing.grid((236, y + 58), (50, TALL), written([MASK]), [kinds])


def averaged(drawing: Drawing, y: float, probabilities: Matrix, value: Matrix) -> None:
    """Draw the probabilities, and the mean of the values."""
    drawing.down(122, y - 28, y - 8)
    drawing.note(132, y - 19, "softmax over each row")
    titled(drawing, 122, y + 6, "probabilities", "(T, T), dropout here")
    rows(drawing, y + 52)
    kinds = [["hidden" if one else "blue" for one in MASK]] * len(TOKENS)
    drawing.grid((56, y + 40), (44, TALL), written(probabilities, 3), kinds)
    drawing.text((205, y + 76), TIMES, size=LARGE)
    titled(drawing, 258, y + 6, "V", "(T, d)")
    kinds = [["hidden" if one else "red"] * 2 for one in MASK]
    drawing.grid((230, y + 40), (28, TALL), written(value), kinds)
    drawing.text((298, y + 76), "=", size=LARGE)
    titled(drawing, 352, y + 6, "output", "(T, d)")
    drawing.grid((310, y + 40), (42, TALL), written(product(probabilities, value), 3), "green")


def titled(drawing: Drawing, x: float, y: float, name: str, shape: str) -> None:
    """Write a matrix's name and shape above its middle."""
    drawing.text((x, y), name, "bold")
    drawing.text((x, y + 15), shape)


def rows(drawing: Drawing, y: float) -> None:
    """Name the rows of a matrix; the middle of the first is at y."""
    for place, token in enumerate(TOKENS):
        drawing.text((50, y + TALL * place), token, anchor="end")
