"""Texts of questions as markup, and code as it is shown: numbered as in the file."""

from collections.abc import Iterator

from tensormark.reports.markup import Element, element, joined, say
from tensormark.reports.text import visible
from tensormark.viva.question import Listing, Question

LETTERS = "ABCD"  # of the options
LONGEST = 2000  # characters of a text
WIDEST = 300  # characters of a line of code
MOST = 40_000  # characters of a function


def parts(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the pieces of a text, and whether each is code; a backtick without another is one."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        pieces[-2:] = ["`".join(pieces[-2:])]
    yield from ((place % 2 == 1, piece) for place, piece in enumerate(pieces) if piece)


def marked(text: str) -> Element:
    """Return a text as markup, with its code as such."""
    return joined(
        *(
            element("code", say(piece, LONGEST, keep="\n")) if is_code else say(piece, LONGEST)
            for is_code, piece in parts(text)
        )
    )


def dedented(listing: Listing) -> list[tuple[int, str]]:
    """Return the lines of a listing without what all are indented by."""
    lines = [(number, text.expandtabs(4).rstrip()) for number, text in listing.lines]
    depth = min((len(text) - len(text.lstrip()) for _, text in lines if text), default=0)
    return [(number, text[depth:]) for number, text in lines]


def numbered(listing: Listing) -> list[str]:
    """Return the lines of a listing after their numbers, printable."""
    width = max((len(str(number)) for number, _ in listing.lines), default=1)
    return [
        f"{number:>{width}}  {visible(text, WIDEST)}".rstrip() for number, text in dedented(listing)
    ]


def fragment(question: Question, listings: tuple[Listing, ...]) -> Element:
    """Return a question for a platform: its code in brackets, what is asked, and the function."""
    code = [
        element("pre", element("code", say("\n".join(numbered(listing)), MOST, keep="\n")))
        for listing in listings
        if listing.name == question.function
    ]
    return joined(element("p", f"[{question.code}] ", marked(question.prompt)), *code[:1])
