"""Parses a diagram: its words and their extents, its shapes, its grids of numbers."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from xml.etree import ElementTree

WIDTH = 400  # of every diagram, so that its words can be read on a phone
SCALE = 1.2  # from units to pixels on a wide screen: words are then as large as the page's
# Widths of characters in ems in DejaVu Sans, the widest font that a browser may choose, each
# rounded up; any other character counts as the widest.
WIDTHS = (
    (0.34, "'ijlIJ ,.·:;/|\\"),
    (0.42, "f-()[]t!r"),
    (0.56, '"_*sz?cL'),
    (0.64, "FkvxyPTYaoe"),
    (0.70, "ESbdghnpqu0123456789{}√KAVBRXZC"),
    (0.86, "MUHNDG&OQw#+=<>→≈\N{MULTIPLICATION SIGN}"),
)
WIDEST = 1.0
OF_MONO = 0.61
OF_BOLD = 1.12
SVG = "{http://www.w3.org/2000/svg}"
ON = re.compile(r"\bon-(\w+)")


@dataclass(frozen=True)
class Words:
    text: str
    kind: str  # of the shape whose color they have
    x: float
    y: float
    w: float
    h: float

    @property
    def middle(self) -> tuple[float, float]:
        return self.x + self.w / 2, self.y + self.h / 2


@dataclass(frozen=True)
class Shape:
    kind: str
    x: float
    y: float
    w: float
    h: float


def width_of(words: str, size: float, look: str = "") -> float:
    """Return an upper bound for the width of words."""
    if "mono" in look:
        return len(words) * OF_MONO * size
    ems = (next((w for w, chars in WIDTHS if char in chars), WIDEST) for char in words)
    return sum(ems) * size * (OF_BOLD if "bold" in look else 1)


def words_of(element: ElementTree.Element) -> Words:
    about = element.attrib
    text = element.text or ""
    size = float(about["font-size"])
    kinds = about["class"]
    width = width_of(text, size, kinds)
    left = {"start": 0, "middle": width / 2, "end": width}[about["text-anchor"]]
    kind = ON.search(kinds)
    assert kind, text
    x = float(about["x"]) - left
    base = float(about["y"])
    return Words(text, kind[1], x, base - 0.74 * size, width, 0.76 * size)


def shape_of(element: ElementTree.Element) -> Shape:
    about = element.attrib
    if element.tag == f"{SVG}circle":
        x, y, r = (float(about[name]) for name in ("cx", "cy", "r"))
        return Shape(about["class"], x - r, y - r, 2 * r, 2 * r)
    x, y, w, h = (float(about.get(name, 0)) for name in ("x", "y", "width", "height"))
    return Shape(about["class"], x, y, w, h)


class Drawn:
    def __init__(self, path: Path) -> None:
        self.text = path.read_text(encoding="utf-8")
        self.root = ElementTree.fromstring(self.text)

    @cached_property
    def modes(self) -> dict[str, dict[str, tuple[str, str, str]]]:
        """The fill, outline and words of every kind of shape, in light and in dark mode."""
        light, _, dark = self.text.partition("@media (prefers-color-scheme:dark)")
        rule = r"\.(\w+){fill:(#\w+);stroke:(#\w+)}\.on-\1{fill:(#\w+)}"
        parts = {"light": light, "dark": dark}
        return {
            m: {k: (f, o, w) for k, f, o, w in re.findall(rule, css)} for m, css in parts.items()
        }

    @cached_property
    def words(self) -> list[Words]:
        return sorted(
            map(words_of, self.root.iter(f"{SVG}text")), key=lambda words: (words.y, words.x)
        )

    @cached_property
    def shapes(self) -> list[Shape]:
        """Rectangles and circles, in the order in which they are drawn."""
        kinds = (f"{SVG}rect", f"{SVG}circle")
        return [shape_of(element) for element in self.root.iter() if element.tag in kinds]

    @cached_property
    def matrices(self) -> list[list[list[tuple[str, str]]]]:
        """The cells of every matrix, in the order in which they are drawn: words and kind."""
        matrices = []
        for group in self.root.iter(f"{SVG}g"):
            rows: dict[float, list[tuple[str, str]]] = {}
            for element in group:
                if element.tag == f"{SVG}rect":
                    shape = shape_of(element)
                    rows.setdefault(shape.y, []).append(("", shape.kind))
                else:
                    rows[shape.y][-1] = (element.text or "", shape.kind)
            if sum(map(len, rows.values())) > 1:
                matrices.append(list(rows.values()))
        return matrices

    @property
    def shown(self) -> list[str]:
        return [words.text for words in self.words]

    def matrix(self, place: int) -> list[list[str]]:
        """Return the words of a matrix; one with a single cell does not count in `place`."""
        return [[words for words, _ in row] for row in self.matrices[place]]

    def kinds(self, place: int) -> list[list[str]]:
        return [[kind for _, kind in row] for row in self.matrices[place]]

    @property
    def tensor_shapes(self) -> list[str]:
        """The tensor shapes in the text, from top to bottom."""
        shapes = [re.findall(r"\([A-Zd1-9][^()]*\)", text) for text in self.shown]
        return [re.sub(r",(?! )", ", ", shape) for group in shapes for shape in group]
