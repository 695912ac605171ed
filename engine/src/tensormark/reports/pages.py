"""Pages from templates: every text is made visible, bounded and escaped where it is put in.

A page is a single file that needs no network: its policy allows no request, and only the style
sheets and the script inside it.
"""

import base64
import functools
import hashlib
import os
import sys
import webbrowser
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from tensormark.reports.text import out_of, points, visible

TEMPLATES = Path(__file__).with_name("templates")


def _shown(value: Any) -> Any:
    """Return what stands for a value; jinja2 escapes it afterwards, unless it is markup."""
    if value is None:
        return ""
    if isinstance(value, int | float) or hasattr(value, "__html__"):
        return value
    return visible(value)


def _clipped(value: Any, limit: int, keep: str = "") -> Markup:
    """Return a bounded text, escaped, in which the characters to keep are left as they are."""
    return escape("" if value is None else visible(value, limit, keep))


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
    environment.filters |= {"points": points, "out_of": out_of, "clipped": _clipped}
    return environment


def _rendered(template: Path, **values: Any) -> Markup:
    """Return a template filled with values; those that are `Markup` are not escaped."""
    found = _environment(template.parent).get_template(template.name)
    return Markup(found.render(values))


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def page(
    title: str, template: Path, style: Path | None = None, script: Path | None = None, **values: Any
) -> str:
    """Return a page whose policy allows nothing but its style sheets and this script.

    Args:
        template: of what is between its title and its end, to fill with the values.
        style: a style sheet besides that of reports.
    """
    sheet = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    if style:
        sheet += style.read_text(encoding="utf-8")
    program = script.read_text(encoding="utf-8") if script else ""
    return _rendered(
        TEMPLATES / "document.html.j2",
        title=title,
        body=_rendered(template, **values),
        style=Markup(sheet),
        style_digest=_digest(sheet),
        script=Markup(program),
        script_digest=_digest(program),
    )


def _has_display() -> bool:
    names = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    return sys.platform == "darwin" or any(os.environ.get(name) for name in names)


def show(path: Path) -> bool:
    """Open a page in the user's browser; return whether that was possible."""
    if not _has_display():
        return False
    try:
        return webbrowser.open(path.resolve().as_uri())
    except (webbrowser.Error, OSError):
        return False
