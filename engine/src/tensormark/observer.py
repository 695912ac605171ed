"""What is notified of a grading, such as a report that is printed as results come in."""

from collections.abc import Collection

from tensormark.result import Grade, Result


class Observer:
    """Is notified of the progress of a grading; this one does nothing, unlike those of reports/."""

    def begin(self, assignment: str, submission: str, tier: str, shown: Collection[str]) -> None:
        """Take note of what is graded, and of the ids of the exercises to report on."""

    def progress(self, what: str, done: int, total: int) -> None:
        """Handle the progress of a task: steps done of a total."""

    def result(self, result: Result) -> None:
        """Handle an exercise's result."""

    def end(self, grade: Grade, printed: str) -> None:
        """Take note of the grade, and of what the submission printed."""
