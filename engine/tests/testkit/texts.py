"""Reads tables of cases that are written as text."""

import re


def blocks(text):
    """Return each line at the margin, with the lines below it that are indented."""
    parts = re.split(r"\n(?=\S)", text.strip())
    return [re.sub("^    ", "", part, flags=re.M).split("\n") for part in parts]


def pairs(text):
    """Return each line at the margin with each line that is indented below it."""
    found = []
    for first, *others in blocks(text):
        found += [(first, other) for other in others]
    return found
