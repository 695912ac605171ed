"""Grade one submission on Gradescope: `tensormark autograder`, which run_autograder calls.

results.json exists from the start, says that the grading did not finish until it has, and is
rewritten after each exercise, always atomically.
"""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

from tensormark.exercise import Assignment
from tensormark.files import write_whole
from tensormark.folder import open_assignment
from tensormark.grading import Grading
from tensormark.intake.process import InspectionError
from tensormark.intake.submission import Part, SubmissionError, read_beside
from tensormark.predictions import PredictionsError, accuracy, labelled
from tensormark.references import References
from tensormark.reports.platforms import gradescope
from tensormark.result import Grade, Observer, Outcome, Result
from tensormark.sandbox.interface import printable
from tensormark.sandbox.tiers import BY_NAME, ISOLATING, PROCESS, TIERS
from tensormark.settings import Settings
from tensormark.strictest import strictest
from tensormark.usage import parser

LIMIT = 600  # seconds: Gradescope's default
BUDGET = 0.2  # share of the limit for all exercises together
TRAINING = 0.5  # share for the tasks
# files in the assignment's folder in the autograder's zip
REFERENCES = "references"
CONSTRAINTS = "constraints.txt"
LEAST_TIER = "least-tier"
VERDICTS = "verdicts"  # ALWAYS, DUE, or for how many submissions of a day students see them
ALWAYS = "always"
DUE = "due"
RECEIVED = "Your submission is graded; you will see the verdicts after the due date."
TOO_OFTEN = "You see verdicts for {} submissions a day, and for all of them after the due date."
UNFINISHED = "The grading did not finish; below is what was graded until then."
UNGRADED = "This could not be graded, which is not your fault; tell your instructor."


class ResultsWriter(Observer):
    """Observes a grading, and writes results.json as it goes on."""

    def __init__(self, path: Path, hidden: str = "") -> None:
        """Write that nothing is graded yet.

        Args:
            hidden: what students are told instead of verdicts; "" if they see them.
        """
        self.path = path
        self.hidden = hidden
        self.tier = ""
        self.results: list[Result] = []
        self.accuracy = 0.0  # of predictions, if there are any
        self.fault = ""  # of these
        self.write(UNFINISHED)

    def result(self, result: Result) -> None:
        """Write the results so far."""
        print(f"{result.outcome}: {result.id}", flush=True)
        self.results.append(result)
        self.write(UNFINISHED)

    def end(self, grade: Grade) -> None:
        """Write the final results."""
        could_not = any(result.outcome is Outcome.COULD_NOT_GRADE for result in grade.results)
        self.write(UNGRADED if could_not else self.fault, grade)

    def write(self, first: str, grade: Grade | None = None) -> None:
        """Write results.json, with a line before the report's text."""
        grade = grade or Grade("", self.tier, self.results)
        graded = bool(self.results) or first not in (UNFINISHED, UNGRADED)
        covered = BY_NAME[self.tier].allows if self.tier in BY_NAME else ""
        accuracy = 0.0 if self.hidden else self.accuracy
        text = gradescope(grade.as_json(), first, covered, graded, self.hidden, accuracy)
        write_whole(self.path, text)

    def score(self, assignment: Assignment, submission: Path) -> None:
        """Score the predictions, if any were handed in; without labels, none is right."""
        if assignment.leaderboard is None:
            return
        test = assignment.leaderboard.test
        try:
            text = read_beside([Part(submission)], assignment.editable, test.file)
            if text is not None:
                examples = labelled(assignment.folder, test.data)
                self.accuracy = round(accuracy(test.score(text, examples)), 4)
        except PredictionsError as error:
            self.fault = f"not on the leaderboard: {error}"


def _times(assignment: Assignment) -> dict[str, float | None]:
    """Return the seconds that a correct solution takes for each task; None: not measured."""
    references = References(assignment.folder / REFERENCES)
    return {
        exercise.id: exercise.task.seconds(references)
        for exercise in assignment.exercises
        if exercise.task is not None and exercise.task.left_out(references) is None
    }


def settings_for(assignment: Assignment, limit: float) -> Settings:
    """Return the settings: the references, and time limits that suit half a processor.

    A task whose time was not measured keeps its own deadline.
    """
    folder = assignment.folder / REFERENCES
    settings = Settings.of(assignment.folder, references=folder, budget=BUDGET * limit)
    measured = sum(seconds or 0.0 for seconds in _times(assignment).values())
    if not measured:
        return settings
    return dataclasses.replace(settings, training_times=TRAINING * limit / measured)


def chosen(assignment: Assignment, settings: Settings) -> str | None:
    """Return the strictest tier that can run here and is allowed, and print why.

    The tier `process` is used only if the instructor allowed it.
    """
    least = (assignment.folder / LEAST_TIER).read_text(encoding="utf-8").strip()
    allowed = TIERS if least == PROCESS else ISOLATING
    choice = strictest(assignment, settings, allowed)
    for reason in choice.reasons:
        print(f"cannot use tier {reason}")
    if choice.tier is None:
        print("no tier can run here; nothing will be graded", flush=True)
    else:
        tier = choice.tier
        print(f"submissions run in the tier {tier}: {BY_NAME[tier].allows}", flush=True)
    return choice.tier


def hidden(rule: str, metadata: Path) -> str:
    """Return what students are told instead of verdicts; "" if they see them.

    Args:
        rule: see VERDICTS.
        metadata: Gradescope's submission_metadata.json, with the time of this submission and of
            those before, whose offset says when a day begins; if it cannot be read, none are shown.
    """
    if rule == ALWAYS:
        return ""
    try:
        data = json.loads(metadata.read_bytes())
        today = data["created_at"][:10]
        earlier = [each["submission_time"][:10] for each in data["previous_submissions"]]
        if rule != DUE and earlier.count(today) < int(rule):
            return ""
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"{metadata}: cannot be read ({error!r})", flush=True)
    return RECEIVED if rule == DUE else TOO_OFTEN.format(rule)


def grade(
    assignment: Assignment, submission: Path, results: Path, limit: float, told: str = ""
) -> None:
    """Grade, and write the results.

    Args:
        told: see `hidden`.
    """
    writer = ResultsWriter(results, told)
    settings = settings_for(assignment, limit)
    tier = chosen(assignment, settings)
    writer.tier = tier or "none"
    if tier is None:
        writer.write(UNGRADED)
        return
    grading = Grading(dataclasses.replace(settings, tier=tier), assignment)
    try:
        read = grading.read(str(submission))
        writer.score(assignment, submission)
        grading.grade(read, observer=writer)
    except SubmissionError as error:
        message = str(error).replace(f"{submission}: ", "")
        writer.write(f"Nothing was graded: {printable(message)}")
    except InspectionError as error:
        print(error, flush=True)
        writer.write(UNGRADED)


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Grade, or say how it will be done; return the exit status."""
    command_line = parser(name, "Grade on Gradescope, in its container.")
    add = command_line.add_argument
    add("--tiers", action="store_true", help="say which tier can run here")
    limit_help = "seconds for the whole grading (default: %(default)s)"
    add("--limit", type=float, default=LIMIT, help=limit_help)
    add("--submission", type=Path, help="the folder that was handed in")
    about = "Gradescope's facts about the submission (default: %(default)s)"
    add("--metadata", type=Path, default=Path("submission_metadata.json"), help=about)
    add("--results", type=Path, help="the file to write")
    options = command_line.parse_args(arguments)
    assignment = open_assignment(folder)
    if not options.tiers:
        rule = (folder / VERDICTS).read_text(encoding="utf-8").strip()
        told = hidden(rule, options.metadata)
        grade(assignment, options.submission, options.results, options.limit, told)
        return 0
    for task, seconds in _times(assignment).items():
        if seconds is None:
            print(
                f"{task}: its time was not measured; its own deadline applies, whatever the limit"
            )
    chosen(assignment, settings_for(assignment, options.limit))
    return 0
