"""Reads tables of cases that are written as text."""

import re


def blocks(text):
    """Return each line at the margin, with the lines below it that are indented."""
    parts = re.split(r"\n(?=\S)", text.strip())
    return [re.sub("^    ", "", part, flags=re.M).split("\n") for part in parts]
