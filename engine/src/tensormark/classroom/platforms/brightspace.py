"""Brightspace (D2L).

Its list is "Export Grades" with points, and is imported again: people are found by OrgDefinedId or
Username, which it writes as `#123`, an item by a title such as `Lab 1 Points Grade <Numeric
MaxPoints:100>`, and a row ends with `#` under `End-of-Line Indicator` (its help on importing
grades).
"""

import re

from tensormark.classroom.platforms.base import Platform

END = "end-of-line indicator"


class Brightspace(Platform):
    """See the module."""

    name = "brightspace"
    chosen_by_students = False
    lists = ({"orgdefinedid", END}, {"username", END})
    columns = (("orgdefinedid", "id"),)
    grades = re.compile(r"(?P<name>.+) points grade(?: <.*maxpoints:(?P<most>[0-9.,]+).*>)?", re.S)
