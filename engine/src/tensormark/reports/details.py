"""The parts of the page that explain one exercise: its findings and a training's measurements."""

from typing import Any

from tensormark.reports.figures import curve, difference_map
from tensormark.reports.markup import Element, element, joined, say, table
from tensormark.reports.text import visible

Json = dict[str, Any]
FINDINGS, LINES, LONGEST = 3, 10, 400  # findings per exercise, lines each, characters per line


def _short(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:z.4f}"


def _worst_table(excerpt: Json) -> Element:
    """Return expected and actual values side by side, for the worst row."""
    row, axes = excerpt["row"], [visible(axis, 40) for axis in excerpt["axes"]] or ["value"]
    place = ", ".join(f"{n} {i}" for n, i in zip(axes, row["index"], strict=False))
    whole = len(row["expected"]) == row["length"]
    part = "" if whole else f", {len(row['expected'])} of {row['length']} values"
    worst = excerpt["worst"]
    allowed = "" if isinstance(worst["allowed"], str) else f"; limit {worst['allowed']:.0e}"
    rows = zip(row["expected"], row["got"], row["wrong"], strict=True)
    body = [
        element(
            "tr",
            element("th", row["start"] + number, scope="row"),
            element("td", _short(expected)),
            element("td", _short(got)),
            element("td", "✗ differs" if wrong else "✓", class_="mark"),
            class_="wrong" if wrong else None,
        )
        for number, (expected, got, wrong) in enumerate(rows)
    ]
    caption = f"Worst at {place}{part}{allowed}" if place else f"The values{part}{allowed}"
    return table((axes[-1], "expected", "got", "right?"), body, caption, class_="values")


def finding_parts(finding: Json) -> list[Element]:
    """Return the text of one finding, and where the output is wrong."""
    parts = [element("p", finding["headline"], class_="headline")]
    if finding["details"]:
        lines = "\n".join(visible(line, LONGEST) for line in finding["details"][:LINES])
        parts.append(element("pre", say(lines, 8000, keep="\n"), class_="lines"))
    if excerpt := finding["excerpt"]:
        figures = (difference_map(excerpt), _worst_table(excerpt))
        parts.append(element("div", *figures, class_="excerpt"))
    return parts


def _confusion_table(measured: Json) -> Element:
    """Return how often each class was predicted as each class."""
    classes = [visible(name, 40) for name in measured["classes"]]
    heads = [element("td"), *(f"read as {name}" for name in classes)]
    body = [
        element(
            "tr",
            element("th", f"is {name}", scope="row"),
            *(
                element("td", count, class_="right" if across == down else None)
                for across, count in enumerate(counts)
            ),
        )
        for down, (name, counts) in enumerate(zip(classes, measured["confusion"], strict=True))
    ]
    return table(heads, body, "True and predicted labels", class_="confusion")


def _misread_list(measured: Json) -> Element:
    items = [
        element(
            "li",
            element("q", example["text"]),
            f" is {visible(example['expected'], 40)}, read as {visible(example['got'], 40)}",
        )
        for example in measured["misread"][:10]
    ]
    counts = measured["confusion"]
    total = sum(map(sum, counts)) - sum(row[place] for place, row in enumerate(counts))
    part = f"; the first {len(items)}:" if total > len(items) else ""
    heading = element("h3", f"{total} misread{part}")
    return joined(heading, element("ol", *items, class_="misread"))


def measured_parts(measured: Json) -> list[Element]:
    """Return a training's result, its curves and its errors."""
    name = visible(measured["name"], 60)
    reached = f"{name}: {measured['value']:.3f}; needed: {measured['threshold']:.3f}"
    parts = [element("p", reached, class_="headline")]
    curves = [figure for points in measured["curves"] if (figure := curve(points)) is not None]
    if curves:
        parts.append(element("div", *curves, class_="curves"))
    if measured["confusion"]:
        parts.append(_confusion_table(measured))
    if measured["misread"]:
        parts.append(_misread_list(measured))
    return parts
