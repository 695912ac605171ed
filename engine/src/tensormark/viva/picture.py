"""Small tensors side by side: what a function returns without and with a change."""

import math
from collections.abc import Sequence

from tensormark.reports.markup import Element, element
from tensormark.viva.question import Picture
from tensormark.viva.texts import marked

SHADES = 4  # of numbers, on either side of 0
Rows = Sequence[Sequence[float]]
Place = tuple[int, int]


def _texts(rows: Rows) -> list[list[str]]:
    """Return numbers as texts: whole ones and halves in full, others with 3 decimals or digits."""
    finite = [value for row in rows for value in row if math.isfinite(value)]
    plain = all(2 * value == int(2 * value) for value in finite)
    large = max(map(abs, finite), default=0.0) >= 1000
    form = "{:g}" if plain else "{:.3g}" if large else "{:.3f}"
    return [
        [form.format(round(v, 3) + 0.0) if math.isfinite(v) else str(v) for v in row]
        for row in rows
    ]


def _shade(value: float, largest: float) -> str | None:
    if not math.isfinite(value) or not largest or not value:
        return None
    depth = min(SHADES, 1 + int(SHADES * abs(value) / largest))
    return f"{'above' if value > 0 else 'below'}{depth}"


def _matrix(caption: str, rows: Rows, texts: list[list[str]], marks: set[Place]) -> Element:
    finite = [abs(value) for row in rows for value in row if math.isfinite(value)]
    body = []
    for down, row in enumerate(rows):
        cells = []
        for across, value in enumerate(row):
            text = texts[down][across]
            content = element("b", text) if (down, across) in marks else text
            cells.append(element("td", content, class_=_shade(value, max(finite, default=0.0))))
        body.append(element("tr", *cells))
    return element("table", element("caption", caption), *body, class_="matrix")


def _difference(before: list[list[str]], after: list[list[str]]) -> tuple[str, set[Place]]:
    """Return in words how the two differ, and where, if that is in few places."""
    if [len(row) for row in before] != [len(row) for row in after]:
        return "changed: a different size", set()
    places = {
        (down, across): text != after[down][across]
        for down, row in enumerate(before)
        for across, text in enumerate(row)
    }
    differ = {place for place, differs in places.items() if differs}
    words = f"changed: {len(differ)} of {len(places)} differ" if differ else "changed: the same"
    return words, differ if 2 * len(differ) <= len(places) else set()


def figure(picture: Picture) -> Element:
    """Return both tables, with their title."""
    before, after = _texts(picture.before), _texts(picture.after)
    caption, marks = _difference(before, after)
    tables = (
        _matrix("your function", picture.before, before, marks),
        _matrix(caption, picture.after, after, marks),
    )
    return element(
        "figure",
        element("figcaption", marked(picture.title)),
        element("div", *tables, class_="panels"),
        class_="picture",
    )
