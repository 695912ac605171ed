"""Render a page of the handout as an HTML file that needs no network.

Figures are inlined, equations between dollar signs become MathML, and every heading has the same
anchor as on GitHub. Students do not need the libraries.
"""

import base64
import dataclasses
import itertools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from posixpath import dirname, join, normpath, relpath

import jinja2
from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

from tensormark.handout import slug
from tensormark.usage import UserError

HERE = Path(__file__).parent
PROBLEM = re.compile(r"(?:Problem|Question) \((\w+)\): (.+) \(.+\)")
PICTURES = {".png": "image/png", ".svg": "image/svg+xml"}
TO_CONTENTS = '<p class="to-contents"><a href="#contents">Contents</a></p>'  # where these are last


@dataclasses.dataclass
class Heading:
    """A heading in the table of contents, and those below it."""

    anchor: str
    text: str
    parts: list["Heading"] = dataclasses.field(default_factory=list)


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


def _inlined(source: str, folder: Path, root: Path) -> str:
    """Return the address of a picture that is in the page itself.

    Args:
        folder: of the page; root: the folder that pictures must be in.

    Raises:
        UserError: the picture is not in it, or has an unknown format.
    """
    path = (folder / source).resolve()
    kind = PICTURES.get(path.suffix)
    if kind is None or not path.is_file() or not path.is_relative_to(root.resolve()):
        raise UserError(f"{source} is not a picture in {root.resolve()}")
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def _scrollable(body: str) -> str:
    """Let wide tables and code scroll by themselves, with the keyboard too."""
    region = '<div class="wide" role="group" tabindex="0" aria-label="Table">'
    body = body.replace("<table>", f"{region}<table>").replace("</table>", "</table></div>")
    return body.replace("<pre>", '<pre tabindex="0">').replace("<th></th>", "<td></td>")


def _sections(tokens: Sequence[Token]) -> list[Heading]:
    """Return the headings of level 2, each with those of level 3 below it."""
    sections: list[Heading] = []
    for token, inside in itertools.pairwise(tokens):
        if token.type == "heading_open" and token.tag in ("h2", "h3"):
            text = "".join(child.content for child in inside.children or ())
            heading = Heading(str(token.attrs["id"]), PROBLEM.sub(r"\1: \2", text))
            inner = token.tag == "h3" and sections
            (sections[-1].parts if inner else sections).append(heading)
    return sections


def _title(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")


def _to_html(target: str, page: str, pages: Mapping[str, str]) -> str:
    """Return the target of a link; one to another page of the handout leads to its HTML."""
    path, mark, anchor = target.partition("#")
    if path and normpath(join(dirname(page), path)) in pages:
        path = f"{path.removesuffix('.md')}.html"
    return path + mark + anchor


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
            token.attrs["src"] = _inlined(str(token.attrs["src"]), (root / page).parent, root)
        elif token.type == "link_open":
            token.attrs["href"] = _to_html(str(token.attrs["href"]), page, pages)
    body = _scrollable(markdown.renderer.render(tokens, markdown.options, environment))
    others = {
        _to_html(relpath(other, dirname(page) or "."), page, pages): _title(text)
        for other, text in pages.items()
        if other != page
    }
    templates = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = templates.from_string((HERE / "page.html").read_text(encoding="utf-8"))
    return template.render(
        title=_title(pages[page]),
        style=(HERE / "page.css").read_text(encoding="utf-8"),
        body=body.replace("</h1>", f"</h1>\n{TO_CONTENTS}", 1),
        sections=_sections(tokens),
        others=others,
    )
