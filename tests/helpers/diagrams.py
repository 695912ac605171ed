"""Parses a diagram of the handout: its words, and its grids of numbers."""

import re
from functools import cached_property
from xml.etree import ElementTree

WIDTH = 400  # of every diagram, so that its words can be read on a phone
SVG = "{http://www.w3.org/2000/svg}"


def _place(element):
    """Return where an element is, from top to bottom and then from left to right."""
    return float(element.attrib["y"]), float(element.attrib["x"])


class Diagram:
    def __init__(self, path):
        self.text = path.read_text("utf-8")
        self.root = ElementTree.fromstring(self.text)

    @property
    def backgrounds(self):
        """The colors of the background, in light and in dark mode."""
        return re.findall(r"\.page{fill:(#\w+)", self.text)

    @property
    def words(self):
        """The words, from top to bottom."""
        elements = sorted(self.root.iter(f"{SVG}text"), key=_place)
        return [element.text or "" for element in elements]

    @cached_property
    def matrices(self):
        """The words in the cells, row by row, of each matrix with more than one cell.

        A group of the SVG is a matrix: rectangles, each followed by its text if it has one.
        """
        matrices = []
        for group in self.root.iter(f"{SVG}g"):
            rows = {}
            for element in group:
                if element.tag == f"{SVG}rect":
                    row = rows.setdefault(element.attrib["y"], [])
                    row.append("")
                else:
                    row[-1] = element.text or ""
            if sum(map(len, rows.values())) > 1:
                matrices.append(list(rows.values()))
        return matrices
