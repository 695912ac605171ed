"""Pages from templates: every text is made visible, bounded and escaped where it is put in."""

import functools
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from tensormark.reports.markup import Element
from tensormark.reports.text import points, visible


def _shown(value: Any) -> Any:
    """Return what stands for a value; jinja2 escapes it afterwards, unless it is markup."""
    if value is None:
        return ""
    return value if hasattr(value, "__html__") else visible(value)


def _clipped(value: Any, limit: int) -> str:
    return "" if value is None else visible(value, limit)


def _lines(value: str) -> Markup:
    """Return a text of several lines, escaped."""
    return escape(visible(value, keep="\n"))


@functools.cache
def _environment(folder: Path) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        finalize=_shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"points": points, "clipped": _clipped, "lines": _lines}
    return environment


def rendered(template: Path, **values: Any) -> Element:
    """Return a template filled with values; those that are `Markup` are not escaped."""
    found = _environment(template.parent).get_template(template.name)
    return Element(Markup(found.render(values)))
