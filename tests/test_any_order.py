"""No submission changes the result of another one; tests/soak tries 200, in another order."""

import os
import random
from pathlib import Path

import pytest

from soak.orders import Course, disturbed, drawn_order, left


@pytest.mark.tier("contained")
def test_honest_submissions_keep_their_results_whatever_is_graded_between_them(
    tmp_path: Path,
) -> None:
    seed = random.randrange(10**6)
    print(f"seed {seed}")

    assert disturbed(Course("contained", tmp_path), 8, random.Random(seed)) == []


class Forgetful(Course):
    """A course that grades nothing, and leaves a file open for each result."""

    def __init__(self) -> None:
        self.honest = {"right": Path()}
        self.bad = {"hangs": Path()}
        self.alone = {"right": "80"}
        self.kept = []
        self.held = left()

    def result(self, name: str) -> str:
        self.kept.append(os.open(os.devnull, os.O_RDONLY))
        return "0"

    def run(self, order: list[str]) -> list[str]:
        return super().run([name for name in order if name in self.honest])


def test_a_different_result_and_a_file_left_open_are_reported() -> None:
    course = Forgetful()

    different, left_behind = disturbed(course, 2, random.Random(1))

    os.close(course.kept[0])
    assert different == "right, after : 0 instead of 80"
    assert left_behind.startswith("left: ")


def test_half_of_an_order_is_honest_and_every_bad_submission_is_in_it() -> None:
    course = Forgetful()
    course.bad = {str(number): Path() for number in range(50)}

    order = drawn_order(course, 100, random.Random(1))

    assert sorted(name for name in order if name in course.bad) == sorted(course.bad)
