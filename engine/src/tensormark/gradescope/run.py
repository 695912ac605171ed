"""Grade one submission on Gradescope: `tensormark autograder`, which run_autograder calls.

results.json exists from the start, says that the grading did not finish until it has, and is
rewritten after each exercise, always atomically.
"""

import dataclasses
import fnmatch
import json
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tensormark.exercise import Assignment
from tensormark.files import write_whole
from tensormark.folder import open_assignment
from tensormark.grading import Grading
from tensormark.intake.submission import SubmissionError
from tensormark.references import References
from tensormark.reports.platforms import gradescope
from tensormark.result import Grade, Observer, Outcome, Result
from tensormark.sandbox.interface import CONTAINED, LOCKED, PROCESS, printable
from tensormark.settings import Settings
from tensormark.strictest import Strictest, strictest
from tensormark.usage import parser

LIMIT = 600  # seconds: Gradescope's default
BUDGET, TRAINING = 0.2, 0.5  # shares of the limit for all exercises together, and for the tasks
# files in the assignment's folder in the autograder's zip
REFERENCES, CONSTRAINTS, LEAST_TIER = "references", "constraints.txt", "least-tier"
PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^]]*\])?\s*(?:==\s*([^\s;,]+))?")
UNFINISHED = "The grading did not finish; below is what was graded until then."
UNGRADED = "This could not be graded, which is not your fault; tell your instructor."
NOT_COVERED = {
    CONTAINED: "what SECURITY.md lists",
    LOCKED: "a submission can see names, sizes and times of files, but not their contents",
    PROCESS: "a submission can read the private references and forge its results",
}


class _Writer(Observer):
    """Observes a grading, and writes results.json as it goes on."""

    def __init__(self, path: Path) -> None:
        """Write that nothing is graded yet."""
        self.path, self.tier = path, ""
        self.name, self.shown, self.results = "", frozenset[str](), list[Result]()
        self.write(Grade("", "", []), UNFINISHED)

    def begin(self, assignment: str, submission: str, tier: str, shown: Collection[str]) -> None:
        """Note what is graded."""
        self.name, self.shown = submission, frozenset(shown)

    def result(self, result: Result) -> None:
        """Write the results so far."""
        print(f"{result.outcome}: {result.id}", flush=True)
        if result.id in self.shown:
            self.results.append(result)
            self.write(Grade(self.name, self.tier, self.results), UNFINISHED)

    def end(self, grade: Grade, printed: str) -> None:
        """Write the final results."""
        could_not = any(result.outcome is Outcome.COULD_NOT_GRADE for result in grade.results)
        self.write(grade, UNGRADED if could_not else "")

    def write(self, grade: Grade, first: str) -> None:
        """Write results.json, with a line before the report's text."""
        model: dict[str, Any] = json.loads(gradescope(grade.as_json()))
        model["output"] = "\n".join(filter(None, [first, model["output"]]))
        model["extra_data"]["tier"] = self.tier
        model["extra_data"]["not covered"] = NOT_COVERED.get(self.tier, "")
        write_whole(self.path, json.dumps(model, indent=2) + "\n")


def missing_packages(requirements: Path) -> list[str]:
    """Return the requirements that are not installed, or not in the pinned version.

    Those with a condition and those with a URL are not checked.
    """
    lines = requirements.read_text(encoding="utf-8").splitlines()
    plain = [line for line in lines if ";" not in line and "://" not in line]
    missing = []
    for name, pin in [match.groups() for line in plain if (match := PIN.match(line))]:
        try:
            # torch's version ends in "+cpu" or the like
            installed = version(name).partition("+")[0]
        except PackageNotFoundError:
            installed = "none"
        if installed == "none" or not fnmatch.fnmatch(installed, pin or "*"):
            missing.append(f"{name}=={pin or '*'}, found {installed}")
    return missing


def _times(assignment: Assignment, references: References) -> dict[str, float | None]:
    """Return the seconds that a correct solution takes for each task; None: not measured."""
    tasks = {
        exercise.id: exercise.task for exercise in assignment.exercises if exercise.task is not None
    }
    return {name: task.seconds(references) for name, task in tasks.items()}


def settings_for(assignment: Assignment, limit: float) -> Settings:
    """Return the settings: the references, and time limits that suit half a processor.

    A task whose time was not measured keeps its own deadline.
    """
    folder = assignment.folder / REFERENCES
    settings = Settings.of(assignment.folder, references=folder, budget=BUDGET * limit)
    measured = sum(filter(None, _times(assignment, References(folder)).values()))
    if not measured:
        return settings
    return dataclasses.replace(settings, training_times=TRAINING * limit / measured)


def allowed(folder: Path) -> Sequence[str]:
    """Return the tiers that may be used: `process` only if the instructor allowed it."""
    least = (folder / LEAST_TIER).read_text(encoding="utf-8").strip()
    return (CONTAINED, LOCKED, PROCESS) if least == PROCESS else (CONTAINED, LOCKED)


def _report(choice: Strictest) -> None:
    print("\n".join(f"cannot use tier {reason}" for reason in choice.reasons))
    line = f"submissions run in the tier {choice.tier}: {NOT_COVERED.get(choice.tier or '')}"
    print(line if choice.tier else "no tier can run here; nothing will be graded", flush=True)


def grade(assignment: Assignment, submission: Path, results: Path, limit: float) -> None:
    """Grade, and write the results."""
    writer = _Writer(results)
    settings = settings_for(assignment, limit)
    choice = strictest(assignment, settings, allowed(assignment.folder))
    _report(choice)
    if choice.tier is None:
        return writer.write(Grade("", "none", []), UNGRADED)
    writer.tier = choice.tier
    grading = Grading(dataclasses.replace(settings, tier=choice.tier), assignment)
    try:
        grading.grade(str(submission), observer=writer)
    except SubmissionError as error:
        message = str(error).replace(f"{submission}: ", "")
        writer.write(Grade("", choice.tier, []), f"Nothing was graded: {printable(message)}")


def untimed(assignment: Assignment) -> Iterator[str]:
    """Yield a line for each task whose time was not measured, for the instructor."""
    references = References(assignment.folder / REFERENCES)
    for name, seconds in _times(assignment, references).items():
        task = assignment.exercise(name).task
        if seconds is None and task is not None and task.left_out(references) is None:
            yield f"{name}: its time was not measured; its own deadline applies, whatever the limit"


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Grade, or check the installation; return the exit status."""
    command_line = parser(name, "Grade on Gradescope, in its container.")
    add = command_line.add_argument
    add("--packages", action="store_true", help="fail if a requirement is missing")
    add("--tiers", action="store_true", help="say which tier can run here")
    add(
        "--limit",
        type=float,
        default=LIMIT,
        help="seconds for the whole grading (default: %(default)s)",
    )
    add("--submission", type=Path, help="the folder that was handed in")
    add("--results", type=Path, help="the file to write")
    options = command_line.parse_args(arguments)
    assignment = open_assignment(folder)
    if options.packages:
        print("\n".join(missing := missing_packages(assignment.requirements)), file=sys.stderr)
        return 1 if missing else 0
    if options.tiers:
        for line in untimed(assignment):
            print(line)
        settings = settings_for(assignment, options.limit)
        _report(strictest(assignment, settings, allowed(folder)))
        return 0
    grade(assignment, options.submission, options.results, options.limit)
    return 0
