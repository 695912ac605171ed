"""Parses a diagram of the handout: its words, and its grids of numbers."""

import re
from functools import cached_property
from pathlib import Path
from xml.etree import ElementTree

WIDTH = 400  # of every diagram, so that its words can be read on a phone
SCALE = 1.2  # from units to pixels on a wide screen: words are then as large as the page's
SVG = "{http://www.w3.org/2000/svg}"


class Diagram:
    def __init__(self, path: Path) -> None:
        self.text = path.read_text(encoding="utf-8")
        self.root = ElementTree.fromstring(self.text)

    @property
    def backgrounds(self) -> list[str]:
        """The colors of the background, in light and in dark mode."""
        return re.findall(r"\.page{fill:(#\w+)", self.text)

    @cached_property
    def matrices(self) -> list[list[list[tuple[str, str]]]]:
        """The cells of every matrix, in the order in which they are drawn: words and kind."""
        matrices = []
        for group in self.root.iter(f"{SVG}g"):
            rows: dict[float, list[tuple[str, str]]] = {}
            for element in group:
                if element.tag == f"{SVG}rect":
                    row = rows.setdefault(float(element.attrib["y"]), [])
                    row.append(("", element.attrib["class"]))
                else:
                    row[-1] = (element.text or "", row[-1][1])
            if sum(map(len, rows.values())) > 1:
                matrices.append(list(rows.values()))
        return matrices

    @cached_property
    def words(self) -> list[str]:
        """The words, from top to bottom."""
        elements = self.root.iter(f"{SVG}text")
        place = lambda about: (float(about.attrib["y"]), float(about.attrib["x"]))  # noqa: E731
        return [element.text or "" for element in sorted(elements, key=place)]

    def matrix(self, place: int) -> list[list[str]]:
        """Return the words of a matrix; one with a single cell does not count in `place`."""
        return [[words for words, _ in row] for row in self.matrices[place]]

    def kinds(self, place: int) -> list[list[str]]:
        return [[kind for _, kind in row] for row in self.matrices[place]]
