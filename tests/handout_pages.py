"""The handout's pages, and all of them as one text."""

from grader.assignment import ASSIGNMENT

PAGES = ASSIGNMENT.handout.read()
TEXT = "\n".join(PAGES.values())
