"""A page as lines: each text with the element that it is in, and each link or description."""

from testkit.formats import Tags

UNSEEN = {"style", "script"}
CELLS = ("td", "th", "text", "option", "span")  # several in a row are one line
TOLD = ("href", "src", "alt", "title", "aria-label", "value")


class Lines(Tags):
    """Collects the lines of a page."""

    def __init__(self, page):
        self.lines = []
        super().__init__(page)

    def handle_starttag(self, tag, attrs):
        super().handle_starttag(tag, attrs)
        for name, value in attrs:
            if name in TOLD and value and not value.startswith("data:"):
                self.lines.append(f"{tag} {name}: {' '.join(value.split())}")

    def handle_data(self, data):
        text = " ".join(data.split())
        if not text or UNSEEN.intersection(self.open):
            return
        tag = self.open[-1]
        if tag in CELLS and self.lines and self.lines[-1].startswith(f"{tag}: "):
            self.lines[-1] += f" | {text}"
        else:
            self.lines.append(f"{tag}: {text}")
