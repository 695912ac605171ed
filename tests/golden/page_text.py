"""A page as lines: each text with the element that it is in, and each link or description."""

from html.parser import HTMLParser

UNSEEN = ("style", "script")
VOID = ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr")
CELLS = ("td", "th", "text", "option", "span")  # several in a row are one line
TOLD = ("href", "src", "alt", "title", "aria-label", "value")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.lines: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in TOLD and value and not value.startswith("data:"):
                self.lines.append(f"{tag} {name}: {' '.join(value.split())}")

    def handle_endtag(self, tag: str) -> None:
        while tag in self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        text = " ".join(data.split())
        if not text or not {*UNSEEN}.isdisjoint(self.open):
            return
        tag = self.open[-1] if self.open else ""
        if tag in CELLS and self.lines and self.lines[-1].startswith(f"{tag}: "):
            self.lines[-1] += f" | {text}"
        else:
            self.lines.append(f"{tag}: {text}")


def lines_of(page: str) -> list[str]:
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return reader.lines
