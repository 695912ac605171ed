"""Grade many sources in one worker, with the same session and checks as `make check`.

Only for this project's own code: a student's is graded in a fresh worker.
"""

import functools

from grader.assignment import ASSIGNMENT
from tensormark.files import sources_in
from tensormark.grading import Grading, Session, program_of
from tensormark.intake.submission import Submission, inspected
from tensormark.result import Result
from tensormark.sandbox.process import ProcessSandbox
from tensormark.settings import Settings
from tests.helpers import ROOT


class Bench:
    def __init__(self, settings: Settings) -> None:
        self.grading = Grading(settings, ASSIGNMENT)
        self.given = sources_in(ROOT / "starter")
        self.sources = sources_in(ROOT / "solution")
        self.source = self.sources["bert"]
        self.sandbox = ProcessSandbox(program_of(ASSIGNMENT, [], self.given, settings))
        self.grade = functools.cache(self.ask)

    def __enter__(self) -> "Bench":
        self.sandbox.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.sandbox.__exit__(None, None, None)

    def ask(self, source: str, *only: str, module: str = "bert") -> dict[str, Result]:
        """Return results for the module's exercises, or only some; `grade` caches them."""
        self.sandbox.reload(self.given | {module: source})
        exercises = [e for e in ASSIGNMENT.exercises if e.probes and e.module == module]
        submission = inspected(Submission("bert.py", {module: source}, {}))
        chosen = [exercise for exercise in exercises if not only or exercise.id in only]
        return Session(self.grading, submission, chosen).run(self.sandbox)


def lost(results: dict[str, Result]) -> set[str]:
    return {name for name, result in results.items() if result.score != result.max_score}


def named(result: Result) -> list[str]:
    """Return the recognized mistakes: one, or several if indistinguishable."""
    return (result.as_json()["mistake"] or "").split("|")
