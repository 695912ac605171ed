"""Render a page of the handout as an HTML file that needs no network.

Figures are inlined, equations between dollar signs become MathML, and every heading has the same
anchor as on GitHub. Students do not need the libraries.
"""

import base64
import html
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from posixpath import dirname, join, normpath, relpath

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

from tensormark.handout import slug
from tensormark.usage import UserError

STYLE = Path(__file__).with_name("page.css")
PROBLEM = re.compile(r"(?:Problem|Question) \((\w+)\): (.+) \(.+\)")
PICTURES = {".png": "image/png", ".svg": "image/svg+xml"}
LEVELS = (2, 3)  # of headings in the table of contents
TO_CONTENTS = '<p class="to-contents"><a href="#contents">Contents</a></p>'  # where these are last
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
<main>
{body}</main>
<nav id="contents" aria-label="Contents" tabindex="-1">
{contents}
</nav>
</body>
</html>
"""


def _equation(tex: str, options: dict[str, bool]) -> str:
    if not options["display_mode"]:
        return str(convert(tex, display="inline"))
    # a wide equation scrolls by itself, with the keyboard too
    return str(convert(tex, display="block")).replace("<math ", '<math tabindex="0" ', 1)


def _reader() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
    anchors_plugin(markdown, min_level=1, max_level=4, slug_func=slug)
    dollarmath_plugin(markdown, allow_space=False, allow_digits=False, renderer=_equation)
    return markdown


def _inlined(token: Token, folder: Path, root: Path) -> None:
    """Put the picture of a token into the page.

    Args:
        folder: of the page; root: the folder that pictures must be in.

    Raises:
        UserError: the picture is not in it, or has an unknown format.
    """
    path, root = (folder / str(token.attrs["src"])).resolve(), root.resolve()
    if path.suffix not in PICTURES or not path.is_file() or not path.is_relative_to(root):
        raise UserError(f"{token.attrs['src']} is not a picture in {root}")
    content = base64.b64encode(path.read_bytes()).decode()
    token.attrs["src"] = f"data:{PICTURES[path.suffix]};base64,{content}"


def _scrollable(body: str) -> str:
    """Let wide tables and code scroll by themselves, with the keyboard too."""
    region = '<div class="wide" role="group" tabindex="0" aria-label="Table">'
    body = body.replace("<table>", f"{region}<table>").replace("</table>", "</table></div>")
    return body.replace("<pre>", '<pre tabindex="0">').replace("<th></th>", "<td></td>")


def _headings(tokens: Sequence[Token]) -> list[tuple[int, str, str]]:
    """Return the headings in the table of contents: level, anchor and HTML of the text."""
    headings = []
    for token, inside in itertools.pairwise(tokens):
        if token.type == "heading_open" and int(token.tag[1]) in LEVELS:
            text = "".join(child.content for child in inside.children or ())
            text = PROBLEM.sub(r"\1: \2", text)
            headings.append((int(token.tag[1]), str(token.attrs["id"]), html.escape(text)))
    return headings


def _contents(headings: Sequence[tuple[int, str, str]]) -> str:
    """Return the table of contents, a nested list; empty if there are no headings."""
    if not headings:
        return ""
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


def _title(text: str) -> str:
    return html.escape(text.partition("\n")[0].removeprefix("# "))


def _to_html(target: str, page: str, pages: Mapping[str, str]) -> str:
    """Return the target of a link; one to another page of the handout leads to its HTML."""
    path, mark, anchor = target.partition("#")
    if path and normpath(join(dirname(page), path)) in pages:
        path = f"{path.removesuffix('.md')}.html"
    return path + mark + anchor


def _other_pages(page: str, pages: Mapping[str, str]) -> Iterator[str]:
    """Yield a list of links to the other pages, as pieces of HTML."""
    others = {other: _title(text) for other, text in pages.items() if other != page}
    if others:
        yield "<p>Other pages</p>\n<ul>"
        for other, title in others.items():
            target = _to_html(relpath(other, dirname(page) or "."), page, pages)
            yield f'<li><a href="{html.escape(target)}">{title}</a></li>'
        yield "</ul>"


def html_of(pages: Mapping[str, str], page: str, root: Path) -> str:
    """Return a page of a handout as HTML.

    Args:
        pages: the handout's texts, by path; page: one of these paths.
        root: the folder of the assignment, which pictures must be in.

    Raises:
        UserError: a picture is missing.
    """
    markdown = _reader()
    environment: dict[str, object] = {}
    tokens = markdown.parse(pages[page], environment)
    for token in itertools.chain.from_iterable(token.children or () for token in tokens):
        if token.type == "image":
            _inlined(token, (root / page).parent, root)
        elif token.type == "link_open":
            token.attrs["href"] = _to_html(str(token.attrs["href"]), page, pages)
    body = _scrollable(markdown.renderer.render(tokens, markdown.options, environment))
    contents = "\n".join([_contents(_headings(tokens)), *_other_pages(page, pages)])
    return PAGE.format(
        title=_title(pages[page]),
        style=STYLE.read_text(encoding="utf-8"),
        contents=contents,
        body=body.replace("</h1>", f"</h1>\n{TO_CONTENTS}", 1),
    )
