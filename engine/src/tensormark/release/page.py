"""Render the handout as one HTML file that needs no network.

Figures are inlined, equations between dollar signs become MathML, and every heading has the anchor
that GitHub gives it. Students' machines need none of the libraries.
"""

import base64
import html
import itertools
import re
from collections.abc import Sequence
from pathlib import Path

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

from tensormark.handout import slug

STYLE = Path(__file__).with_name("page.css")
PROBLEM = re.compile(r"(?:Problem|Question) \((\w+)\): (.+) \(.+\)")
PICTURES = {".png": "image/png", ".svg": "image/svg+xml"}
LEVELS = (2, 3)  # of headings in the table of contents
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
</head>
<body>
<nav aria-label="Contents"><a class="skip" href="#content">Skip to the text</a>
<details open><summary>Contents</summary>
{contents}
</details></nav>
<main id="content" tabindex="-1">
{body}</main>
</body>
</html>
"""


class PageError(ValueError):
    """The handout cannot be rendered; the message says why."""


def _equation(tex: str, options: dict[str, bool]) -> str:
    return str(convert(tex, display="block" if options["display_mode"] else "inline"))


def _reader() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
    anchors_plugin(markdown, min_level=1, max_level=4, slug_func=slug)
    dollarmath_plugin(markdown, allow_space=False, allow_digits=False, renderer=_equation)
    return markdown


def _inlined(token: Token, folder: Path) -> None:
    """Put the picture of a token into the page.

    Raises:
        PageError: it is none of this folder's.
    """
    path, root = (folder / str(token.attrs["src"])).resolve(), folder.resolve()
    if path.suffix not in PICTURES or not path.is_file() or not path.is_relative_to(root):
        raise PageError(f"{token.attrs['src']} is not a picture of {root}")
    content = base64.b64encode(path.read_bytes()).decode()
    token.attrs["src"] = f"data:{PICTURES[path.suffix]};base64,{content}"


def _scrollable(body: str) -> str:
    """Let wide tables and code scroll by themselves, with the keyboard too."""
    region = '<div class="wide" role="region" tabindex="0" aria-label="Table">'
    body = body.replace("<table>", f"{region}<table>").replace("</table>", "</table></div>")
    return body.replace("<pre>", '<pre tabindex="0">').replace("<th></th>", "<td></td>")


def _headings(tokens: Sequence[Token]) -> list[tuple[int, str, str]]:
    """Return the headings of the table of contents: level, anchor and HTML of the text."""
    headings = []
    for token, inside in itertools.pairwise(tokens):
        if token.type == "heading_open" and int(token.tag[1]) in LEVELS:
            text = "".join(child.content for child in inside.children or ())
            text = PROBLEM.sub(r"\1: \2", text)
            headings.append((int(token.tag[1]), str(token.attrs["id"]), html.escape(text)))
    return headings


def _contents(headings: Sequence[tuple[int, str, str]]) -> str:
    """Return the table of contents, a list in a list."""
    lines, depth = ["<ul>"], LEVELS[0]
    for place, (level, anchor, text) in enumerate(headings):
        if level > depth:
            lines.append("<ul>")
        elif place:
            lines.append("</li>")
            lines += ["</ul></li>"] * (depth - level)
        lines.append(f'<li><a href="#{anchor}">{text}</a>')
        depth = level
    lines.append("</li>" + "</ul></li>" * (depth - LEVELS[0]) + "</ul>")
    return "\n".join(lines)


def page_of(text: str, folder: Path) -> str:
    """Return the page of a handout.

    Args:
        folder: that its pictures are below.

    Raises:
        PageError: a picture is missing.
    """
    markdown = _reader()
    environment: dict[str, object] = {}
    tokens = markdown.parse(text, environment)
    for token in tokens:
        for child in token.children or ():
            if child.type == "image":
                _inlined(child, folder)
    body = _scrollable(markdown.renderer.render(tokens, markdown.options, environment))
    title = html.escape(text.partition("\n")[0].removeprefix("# "))
    style = STYLE.read_text(encoding="utf-8")
    return PAGE.format(title=title, style=style, contents=_contents(_headings(tokens)), body=body)
