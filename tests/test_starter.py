"""The committed starter is the solution without its regions."""

from grader.assignment import ASSIGNMENT
from tensormark.authoring.strip import derive, drifted


def test_the_committed_starter_is_the_stripped_solution() -> None:
    assert drifted(ASSIGNMENT.starter, derive(ASSIGNMENT)) == []


def test_the_starter_holds_no_solution() -> None:
    starter = derive(ASSIGNMENT)["bert.py"]

    assert "SOLUTION" not in starter
    assert starter.count("raise NotImplementedError(") == 5
