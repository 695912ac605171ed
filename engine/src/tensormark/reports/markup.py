"""Elements of HTML and SVG, as text: anything that is not already an element is escaped."""

from collections.abc import Iterable
from html import escape

from tensormark.reports.text import LONGEST, visible


class Element(str):
    """Text that is already markup."""

    __slots__ = ()

    def __html__(self) -> str:
        """Tell jinja2 that it needs no escaping."""
        return self


def say(text: object, limit: int = LONGEST, keep: str = "") -> Element:
    """Return a text as markup: escaped, bounded, with invisible characters made visible."""
    return Element(escape(visible(text, limit, keep)))


def joined(*children: object) -> Element:
    """Concatenate children; None is left out."""
    parts = (c if isinstance(c, Element) else say(c) for c in children if c is not None)
    return Element("".join(parts))


def drawing(width: int, height: int, label: str, *children: object) -> Element:
    """Return an SVG of this size, with a label for screen readers."""
    size = {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
    return element("svg", *children, **size, role="img", aria_label=label)


def element(tag: str, *children: object, **attributes: object) -> Element:
    """Return an element.

    Args:
        children: elements, or texts to escape; None is left out.
        attributes: class_ means class, and other underscores hyphens; None is left out.
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{joined(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return Element(f"<{tag}{written}>{joined(*children)}</{tag}>")


def table(
    heads: Iterable[object], rows: Iterable[Element], caption: object = None, **attributes: object
) -> Element:
    """Return a table.

    Args:
        heads: the titles of the columns, or cells in their place.
    """
    cells = (c if isinstance(c, Element) else element("th", c, scope="col") for c in heads)
    return element(
        "table",
        None if caption is None else element("caption", caption),
        element("thead", element("tr", *cells)),
        element("tbody", *rows),
        **attributes,
    )
