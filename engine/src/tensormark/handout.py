"""The handout: handout.md, and further pages in the folder handout/ if an assignment has them.

A problem may be on any page, under a heading `### Problem (id): ...`. Reports refer to it, and
quote what its "If you see" list says about a message, in items such as

    - `the scores are not scaled`, `raised ValueError: ...`: what to do about them.
"""

import dataclasses
import functools
import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

MAIN = "handout.md"
PAGES = "handout/*.md"
HEADING = re.compile(r"^(#{1,6}) +(.+?) *#*$", re.MULTILINE)
PROBLEM = re.compile(r"Problem \(\w+\)")
QUOTED = re.compile(r'"([^"]{1,80})"')
RAISED = "raised "  # begins the line of an exception
POINTER = "read: "  # begins a report's line that says where to read
# an item of a list that begins with a message; it ends before an empty line, an item or a tag
ITEM = re.compile(r"^- (`(?:.|\n(?!\n|- |<))+)", re.MULTILINE)
MESSAGES = re.compile(r"((?:`[^`]+`|[^`:])+): +(.+)")  # those of an item, and their explanation
LINK = re.compile(r"\[([^]]+)\]\([^)]+\)")
Sections = tuple[tuple[str, str, str], ...]  # title, page, anchor of the heading


def slug(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield a page's headings, each with the text up to the next one of the same level or above."""
    headings = list(HEADING.finditer(text))
    for place, heading in enumerate(headings):
        following = (h.start() for h in headings[place + 1 :] if len(h[1]) <= len(heading[1]))
        yield heading[2], text[heading.end() : next(following, len(text))]


def explained(text: str) -> Iterator[tuple[str, str]]:
    """Yield the messages in the "If you see" lists of a text, each with its explanation."""
    for item in ITEM.findall(text):
        match = MESSAGES.fullmatch(" ".join(item.split()))
        if match:
            plain = LINK.sub(r"\1", match[2]).replace("**", "")
            for message in re.findall(r"`([^`]+)`", match[1]):
                yield message, plain.removesuffix(".")


@functools.cache
def _pattern(message: str) -> re.Pattern[str]:
    """Return what matches the lines of reports that a message of the handout explains.

    A line may continue after a colon; "..." stands for anything. Only messages about exceptions
    explain them, whose text may contain the words of others.
    """
    pattern = ".*".join(map(re.escape, message.split("...")))
    if message.startswith(RAISED):
        return re.compile(f"{pattern}.*")
    return re.compile(f"(?!{RAISED}){pattern}(?:: .*)?")


@dataclasses.dataclass(frozen=True)
class Handout:
    """The pages of an assignment's handout; each is read once, when first needed."""

    folder: Path

    def read(self) -> dict[str, str]:
        """Return the texts of the pages, by path in the assignment's folder; handout.md first.

        Raises:
            OSError, UnicodeDecodeError: a page cannot be read.
        """
        paths = [self.folder / MAIN, *sorted(self.folder.glob(PAGES))]
        return {
            path.relative_to(self.folder).as_posix(): path.read_text(encoding="utf-8")
            for path in paths
        }

    @functools.cached_property
    def pages(self) -> Mapping[str, str]:
        """What `read` returns, or nothing if it fails: grading works without a handout."""
        try:
            return self.read()
        except (OSError, UnicodeDecodeError):
            return {}

    @functools.cached_property
    def anchors(self) -> Mapping[str, tuple[str, str]]:
        """Page and anchor of every heading, by its text and by "Problem (id)"; the first counts."""
        anchors: dict[str, tuple[str, str]] = {}
        for page, text in self.pages.items():
            for _, heading in HEADING.findall(text):
                for name in (heading, *PROBLEM.findall(heading)[:1]):
                    anchors.setdefault(name, (page, slug(heading)))
        return anchors

    def place(self, exercise: str) -> str:
        """Return where an exercise's problem is, worded for reports."""
        problem = f"Problem ({exercise})"
        page, _ = self.anchors.get(problem, (MAIN, ""))
        return f"{page}, {problem}"

    @functools.cached_property
    def explanations(self) -> Mapping[str, list[tuple[str, str]]]:
        """Messages and their explanations, by "Problem (id)", or by "" outside all problems."""
        pairs = defaultdict[str, list[tuple[str, str]]](list)
        for text in self.pages.values():
            for heading, block in blocks(text):
                problem = PROBLEM.match(heading)
                if problem:
                    pairs[problem[0]] += explained(block)
                elif "\n### " not in block:  # else what is below has blocks of its own
                    pairs[""] += explained(block)
        return pairs

    def explanation(self, exercise: str, finding: Sequence[str]) -> list[str]:
        """Return the explanation of the first line of a finding that has one.

        That is one line or none: from the exercise's problem, or else from outside all problems. Of
        several messages that match, the longest counts.
        """
        sources = [self.explanations.get(key, []) for key in (f"Problem ({exercise})", "")]
        for line, pairs in itertools.product(finding, sources):
            fitting = [pair for pair in pairs if _pattern(pair[0]).fullmatch(line)]
            if fitting:
                return [max(fitting, key=lambda pair: len(pair[0]))[1]]
        return []

    def sections(self, exercise: str, lines: Iterable[str]) -> Sections:
        """Return the sections that explain an exercise, and those named in lines of its report."""
        titles = [f"Problem ({exercise})"]
        for line in lines:
            if line.startswith(POINTER):
                titles += QUOTED.findall(line)
        known = [title for title in dict.fromkeys(titles) if title in self.anchors]
        return tuple((title, *self.anchors[title]) for title in known)
