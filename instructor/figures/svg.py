"""A drawing: boxes, grids, arrows and words in, the text of an SVG file out.

Every figure is WIDTH units wide, so that its words can be read on a phone. Words are taken to be as
wide as in DejaVu Sans, the widest font that a browser may choose, and a box refuses words that do
not fit. Colors are Okabe and Ito's, which the color-blind can tell apart. Each figure has its own
light and dark mode, and draws its own background, because a page need not have the same mode.
"""

import math
from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape

WIDTH = 400
SCALE = 1.2  # from units to pixels on a wide screen: the words are then as large as the page's
SIZE, LARGE = 12.0, 14.0  # of words
SANS = "Helvetica, Arial, 'Liberation Sans', 'Noto Sans', 'DejaVu Sans', sans-serif"
MONO = "Menlo, Consolas, 'Liberation Mono', 'DejaVu Sans Mono', monospace"
MARGIN = 3  # left free on both sides of words in a box
TIMES = "\N{MULTIPLICATION SIGN}"

# Widths of characters in ems, each rounded up; what is not listed is as wide as the widest.
WIDTHS = (
    (0.34, "'ijlIJ ,.·:;/|\\"),
    (0.42, "f-()[]t!r"),
    (0.56, '"_*sz?cL'),
    (0.64, "FkvxyPTYaoe"),
    (0.70, "ESbdghnpqu0123456789{}√KAVBRXZC"),
    (0.86, f"MUHNDG&OQw#+=<>→≈{TIMES}"),
)
WIDEST, OF_MONO, OF_BOLD = 1.0, 0.61, 1.12

# What each kind of shape looks like: fill, outline and words, in light and in dark mode.
LIGHT = {
    "page": ("#ffffff", "#ffffff", "#1c1e21"),
    "given": ("#eef0f3", "#59606a", "#1c1e21"),
    "yours": ("#fdecc8", "#8a5a00", "#1c1e21"),
    "plain": ("#ffffff", "#59606a", "#1c1e21"),
    "hidden": ("#454b54", "#1c1e21", "#ffffff"),
    "blue": ("#56b4e9", "#1c1e21", "#000000"),
    "yellow": ("#f0e442", "#1c1e21", "#000000"),
    "red": ("#d55e00", "#1c1e21", "#000000"),
    "green": ("#009e73", "#1c1e21", "#000000"),
}
DARK = {
    "page": ("#16181c", "#16181c", "#e4e6e9"),
    "given": ("#2b3038", "#a5adb8", "#e4e6e9"),
    "yours": ("#473408", "#e69f00", "#f4ead6"),
    "plain": ("#16181c", "#a5adb8", "#e4e6e9"),
    "hidden": ("#525962", "#e4e6e9", "#ffffff"),
} | {kind: (LIGHT[kind][0], "#e4e6e9", "#000000") for kind in "blue yellow red green".split()}

Point = tuple[float, float]


class FigureError(ValueError):
    """A figure cannot be drawn; the message says why."""


def width_of(words: str, size: float, look: str = "") -> float:
    """Return how wide words are at most."""
    if "mono" in look:
        return len(words) * OF_MONO * size
    ems = (next((w for w, some in WIDTHS if one in some), WIDEST) for one in words)
    return sum(ems) * size * (OF_BOLD if "bold" in look else 1)


def rules(kinds: dict[str, tuple[str, str, str]]) -> str:
    """Return the style of one mode."""
    line = kinds["plain"][1]
    parts = [f".line{{fill:none;stroke:{line};stroke-width:1.5}}.head{{fill:{line}}}"]
    for kind, (fill, outline, words) in kinds.items():
        parts.append(f".{kind}{{fill:{fill};stroke:{outline}}}.on-{kind}{{fill:{words}}}")
    return "".join(parts)


def number(value: float) -> str:
    """Write a coordinate, to a tenth."""
    return f"{round(value, 1):g}"


class Drawing:
    """A figure in the making; shapes are drawn in the order of the calls."""

    def __init__(self, title: str, description: str) -> None:
        self.title, self.description = title, description
        self.parts: list[str] = []

    def text(
        self, at: Point, words: str, look: str = "", anchor: str = "middle", size: float = SIZE
    ) -> None:
        """Write words, centered vertically on a point.

        Args:
            look: of mono, bold and on-KIND, the color for words on a shape of that kind.
            anchor: the part of the words that is at the point: start, middle or end.

        Raises:
            FigureError: they would leave the figure.
        """
        width = width_of(words, size, look)
        left = at[0] - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
        if left < 0 or left + width > WIDTH:
            raise FigureError(f"{self.title}: {words!r} leaves the figure at {at}")
        kinds = look if "on-" in look else f"on-page {look}".strip()
        x, y = number(at[0]), number(at[1] + 0.36 * size)
        place = f'x="{x}" y="{y}" font-size="{number(size)}" text-anchor="{anchor}"'
        self.parts.append(f'<text {place} class="{kinds}">{escape(words)}</text>')

    def note(self, x: float, y: float, words: str, look: str = "") -> None:
        """Write words that begin at a point."""
        self.text((x, y), words, look, "start")

    def named(self, x: float, y: float, name: str, shape: str) -> None:
        """Write the name of a tensor, and its shape below."""
        self.note(x, y, name, "mono")
        self.note(x, y + 15, shape)

    def rectangle(self, x: float, y: float, w: float, h: float, kind: str, r: float = 0) -> None:
        """Draw a rectangle, with rounded corners if `r` is not 0."""
        place = f'x="{number(x)}" y="{number(y)}" width="{number(w)}" height="{number(h)}"'
        self.parts.append(f'<rect {place} rx="{number(r)}" class="{kind}"/>')

    def box(
        self,
        x: float,
        y: float,
        w: float,
        h: float,
        lines: Sequence[str],
        kind: str = "given",
        mono: int = 1,
    ) -> None:
        """Draw a box with lines of words in its middle, the first `mono` of them as code.

        Raises:
            FigureError: a line does not fit.
        """
        self.parts.append("<g>")
        self.rectangle(x, y, w, h, kind, 4)
        step = SIZE * 1.25
        for place, words in enumerate(lines):
            look = f"on-{kind} mono" if place < mono else f"on-{kind}"
            if width_of(words, SIZE, look) > w - 2 * MARGIN or len(lines) * step > h:
                raise FigureError(f"{self.title}: {words!r} does not fit in its box")
            middle = y + h / 2 + (place - (len(lines) - 1) / 2) * step
            self.text((x + w / 2, middle), words, look)
        self.parts.append("</g>")

    def grid(
        self,
        at: Point,
        cell: Point,
        rows: Sequence[Sequence[str]],
        kinds: Sequence[Sequence[str]] | str,
        size: float = SIZE,
    ) -> None:
        """Draw a matrix.

        Args:
            at: its upper left corner.
            cell: width and height of each cell.
            kinds: of each cell, or of all.

        Raises:
            FigureError: the words of a cell do not fit.
        """
        w, h = cell
        self.parts.append("<g>")
        for i, row in enumerate(rows):
            for j, words in enumerate(row):
                kind = kinds if isinstance(kinds, str) else kinds[i][j]
                x, y = at[0] + j * w, at[1] + i * h
                self.rectangle(x, y, w, h, kind)
                if width_of(words, size) > w - 2:
                    raise FigureError(f"{self.title}: {words!r} does not fit in its cell")
                if words:
                    self.text((x + w / 2, y + h / 2), words, f"on-{kind}", size=size)
        self.parts.append("</g>")

    def words_in_row(self, x: float, y: float, step: float, words: Iterable[str]) -> None:
        """Write words above the columns of a grid, of which the first begins at x."""
        for place, one in enumerate(words):
            self.text((x + (place + 0.5) * step, y), one)

    def line(self, *points: Point, arrow: bool = True) -> None:
        """Draw a line through points, by default with an arrow's head at its end."""
        path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" class="line"/>')
        if arrow:
            (x0, y0), (x, y) = points[-2:]
            angle = math.atan2(y - y0, x - x0)
            corners = [(x, y)]
            for turn in (0.42, -0.42):
                corners.append((x - 8 * math.cos(angle + turn), y - 8 * math.sin(angle + turn)))
            head = " ".join(f"{number(a)},{number(b)}" for a, b in corners)
            self.parts.append(f'<polygon points="{head}" class="head"/>')

    def down(self, x: float, top: float, bottom: float) -> None:
        """Draw an arrow straight down."""
        self.line((x, top), (x, bottom))

    def plus(self, at: Point) -> None:
        """Draw the sum of what arrives at a point."""
        x, y = number(at[0]), number(at[1])
        self.parts.append(f'<circle cx="{x}" cy="{y}" r="9" class="plain"/>')
        self.text(at, "+", "on-plain bold")

    def legend(self, y: float) -> None:
        """Explain the two colors of boxes."""
        for x, kind, words in ((70, "yours", "you write this"), (230, "given", "given")):
            self.rectangle(x, y - 7, 18, 14, kind, 3)
            self.note(x + 26, y, words)

    def finished(self, height: float) -> str:
        """Return the SVG, with a height in units."""
        style = (
            f"{rules(LIGHT)}.mono{{font-family:{MONO}}}.bold{{font-weight:bold}}"
            f"@media (prefers-color-scheme:dark){{{rules(DARK)}}}"
        )
        head = (
            '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title desc" '
            f'viewBox="0 0 {WIDTH} {number(height)}" width="{number(WIDTH * SCALE)}" '
            f'height="{number(height * SCALE)}" font-family="{SANS}">'
        )
        title = f'<title id="title">{escape(self.title)}</title>'
        description = f'<desc id="desc">{escape(self.description)}</desc>'
        page = f'<rect width="{WIDTH}" height="{number(height)}" rx="6" class="page"/>'
        lines = head, title, description, f"<style>{style}</style>", page, *self.parts, "</svg>"
        return "\n".join(lines) + "\n"
