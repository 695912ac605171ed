"""The handout's pages, separately and as one text."""

from grader.assignment import ASSIGNMENT

PAGES = ASSIGNMENT.handout.read()
TEXT = "\n".join(PAGES.values())
