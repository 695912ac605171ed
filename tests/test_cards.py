"""Files that are declared to be given out exist, and can be prepared for students."""

import dataclasses
import re

import pytest

from grader.assignment import ASSIGNMENT
from instructor.cards import CardError, for_students
from tensormark.release.given_out import copied
from tensormark.usage import UserError
from tests.helpers.known import COURSE


@pytest.mark.parametrize("pattern", ["data/none-*.txt", "data/none.txt"])
def test_a_declared_file_that_is_missing_is_an_error(pattern: str) -> None:
    release = dataclasses.replace(COURSE.staff.release, copied=(pattern,))

    with pytest.raises(UserError, match=re.escape(f"there is no {pattern} to give out")):
        copied(ASSIGNMENT, release)


def test_a_card_that_cannot_be_reworded_is_an_error() -> None:
    with pytest.raises(CardError, match=re.escape("data/README.md has 0 matches")):
        for_students("data/README.md", "# Another card\n")
