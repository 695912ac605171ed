"""Grade one submission, from its path to its grade."""

import datetime
import difflib
import functools
import itertools
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from tensormark.exercise import Assignment, Exercise
from tensormark.intake.given_files import FileOverlay, GivenFiles
from tensormark.intake.needed import needed_by
from tensormark.intake.process import InspectionError
from tensormark.intake.submission import Submission, SubmissionError, inspected, read_submission
from tensormark.program import program_of
from tensormark.references import References, ReferencesError
from tensormark.result import Finding, Grade, Observer, Outcome, Result
from tensormark.sandbox.interface import WorkerStartError, printable
from tensormark.sandbox.sandbox import Sandbox
from tensormark.session import Session, blocked, could_not_grade
from tensormark.settings import Settings
from tensormark.usage import command, near, option

WITHHELD = (
    "the inputs are private, so texts of exceptions, printed output and expected values are left "
    "out"
)


def selected(
    assignment: Assignment, check: bool, only: str | None, references: References | None = None
) -> tuple[list[Exercise], list[str], list[str]]:
    """Return the exercises to run, upstream ones included, and the ids of those to report on.

    Tasks that the references cannot grade are left out, unless they were requested; also return a
    note for each.

    Raises:
        SubmissionError: there is no such exercise.
    """
    available = [e for e in assignment.exercises if e.task is None or not check]
    ids = [exercise.id for exercise in available]
    if only is None:
        left_out = {}
        for exercise in available:
            why = exercise.task.left_out(references) if exercise.task and references else None
            if why is not None:
                left_out[exercise.id] = f"{exercise.id} is left out: {why}"
        return [e for e in available if e.id not in left_out], ids, list(left_out.values())
    requested = list(dict.fromkeys(only.replace(",", " ").split())) or [only]
    for name in requested:
        if name in ids:
            continue
        if any(exercise.id == name for exercise in assignment.exercises):
            fix = f"run `{command('grade', k=only)}`"
            raise SubmissionError(f"{option('k', name)}: needs training; {fix}")
        alike = difflib.get_close_matches(name, ids, n=1)
        hint = f"did you mean {alike[0]}?" if alike else f"choose one of {', '.join(ids)}"
        raise SubmissionError(f"{option('k', name)}: there is no such exercise; {hint}")
    needed = set(requested).union(*(assignment.exercise(name).upstream for name in requested))
    shown = [name for name in ids if name in requested]
    return [exercise for exercise in available if exercise.id in needed], shown, []


def early_results(
    exercises: Sequence[Exercise], submission: Submission, overlay: FileOverlay
) -> dict[str, Result]:
    """Return the results of the exercises that need not run, by id.

    Their files were not handed in or are unchanged, or they need a file that is not valid Python.
    """
    early: dict[str, Result] = {}
    for exercise in exercises:
        needed = needed_by(exercise.module, overlay.sources) if submission.faults else set()
        faulty = sorted(needed & submission.faults.keys(), key=lambda name: name == exercise.module)
        if faulty:
            lines = submission.faults[faulty[0]].split("\n")
            finding = Finding(f"{faulty[0]}.py cannot be imported", tuple(lines))
            early[exercise.id] = Result.of(exercise, Outcome.FAILED, findings=(finding,))
        if exercise.task is None and exercise.file in overlay.untouched:
            early[exercise.id] = Result.of(exercise, Outcome.NOT_WRITTEN)
        if exercise.task is not None and early.keys() >= set(exercise.upstream):
            stopped = blocked(exercise, early)
            if stopped is not None:
                early[exercise.id] = stopped
    return early


class Grading:
    """Grades submissions of one assignment with the same settings.

    Attributes:
        references: None if they cannot be used; fault: why not, reported for every exercise.
    """

    def __init__(self, settings: Settings, assignment: Assignment) -> None:
        """Prepare to grade; references are read when first needed, and then cached."""
        self.settings = settings
        self.assignment = assignment
        self.references: References | None = None
        self.fault: ReferencesError | None = None
        try:
            self.references = References(settings.references, assignment.references)
        except ReferencesError as error:
            self.fault = error

    @functools.cached_property
    def stale(self) -> list[str]:
        """A note if the references are older than the solution, where there is one."""
        try:
            if self.references is not None:
                self.references.check_solution(self.assignment.solution)
        except ReferencesError as error:
            return [near(str(error))]
        return []

    @property
    def private(self) -> bool:
        """Whether the references' inputs are not the public ones."""
        return self.references is not None and self.references.private

    @property
    def given(self) -> GivenFiles:
        """The given files, with their digests if the references can be read."""
        manifest = self.references.manifest if self.references else {}
        return GivenFiles(self.assignment, manifest.get("starter", {}))

    @property
    def shows_values(self) -> bool:
        """Whether a submission's texts and expected values are shown: they may reveal inputs."""
        return self.settings.shows_values(self.private)

    def read(self, path: str) -> Submission:
        """Read a submission.

        Raises:
            SubmissionError: nothing to grade. InspectionError: submissions cannot be read here.
        """
        return read_submission(path, self.assignment.editable, self.given.others_in(Path(path)))

    def grade(
        self,
        submission: Submission,
        check: bool = False,
        only: str | None = None,
        observer: Observer | None = None,
    ) -> Grade:
        """Grade a submission that has been read, perhaps on another machine.

        Args:
            check: leave the training out.
            only: the ids of exercises, separated by commas, or None for all.
            observer: is notified of the progress.

        Raises:
            SubmissionError: there is no such exercise.
        """
        started = datetime.datetime.now(datetime.UTC)
        observer = observer or Observer()
        exercises, shown, notes = selected(self.assignment, check, only, self.references)
        overlay = self.given.under(submission)
        name = printable(submission.name)
        # without extensions that were neither handed in nor requested
        hidden = overlay.untouched if only is None else frozenset()
        listed = [
            exercise.id
            for exercise in exercises
            if exercise.id in shown and not (exercise.extension and exercise.file in hidden)
        ]
        observer.begin(self.assignment.name, name, self.settings.tier, listed)
        results, printed = self.results(submission, exercises, overlay, observer)
        results = self.reported(results, shown)
        withheld = [] if self.shows_values else [WITHHELD]
        taken = datetime.datetime.now(datetime.UTC) - started
        grade = Grade(
            submission=submission.name,
            tier=self.settings.tier,
            results=results,
            notes=[*self.stale, *overlay.notes, *submission.notes, *notes, *withheld],
            flags=list(itertools.chain.from_iterable(result.flags for result in results)),
            name=name,
            assignment=self.assignment.name,
            mode="check" if check else "grade",
            only=None if only is None else shown,
            private=self.private,
            references=self.references.digest if self.references else "",
            time={
                "started": started.isoformat(timespec="seconds"),
                "seconds": round(taken.total_seconds(), 2),
            },
            printed="" if withheld else printed,
        )
        observer.end(grade)
        return grade

    def reported(self, results: Sequence[Result], shown: Collection[str]) -> list[Result]:
        """Return those results that are reported on, with the sections of the handout on them."""
        chosen = [result for result in results if result.id in shown]
        for result in chosen:
            lines = itertools.chain.from_iterable(finding.details for finding in result.findings)
            result.handout = self.assignment.handout.sections(result.id, lines)
        return chosen

    def results(
        self,
        submission: Submission,
        exercises: Sequence[Exercise],
        overlay: FileOverlay,
        observer: Observer,
    ) -> tuple[list[Result], str]:
        """Grade a submission's exercises; also return its printed output."""
        early: dict[str, Result] = {}
        fault: Exception | None = None
        try:
            submission = inspected(submission)
            early = early_results(exercises, submission, overlay)
            pending = [exercise for exercise in exercises if exercise.id not in early]
            if pending:
                with self.open(submission, pending, overlay) as sandbox:
                    session = self.session(submission, exercises, observer, early)
                    results = session.run(sandbox)
                return list(results.values()), sandbox.printed.text()
        except (InspectionError, ReferencesError, WorkerStartError) as error:
            fault = error
        unrun = [early.get(each.id) or could_not_grade(each, fault) for each in exercises]
        for result in unrun:
            observer.result(result)
        return unrun, ""

    def session(
        self,
        submission: Submission,
        exercises: Sequence[Exercise],
        observer: Observer | None = None,
        early: Mapping[str, Result] | None = None,
    ) -> Session:
        """Return a session that grades exercises; see `Session`."""
        assert self.references is not None
        about = self.assignment, self.settings, self.references
        return Session(*about, submission, exercises, observer, early)

    def open(
        self, submission: Submission, exercises: Sequence[Exercise], overlay: FileOverlay
    ) -> Sandbox:
        """Open a sandbox for an inspected submission.

        Raises:
            ReferencesError: they are unusable. WorkerStartError: the tier is not available.
            SubmissionError: given files are missing.
        """
        if self.fault is not None:
            raise self.fault
        if overlay.fault:
            raise SubmissionError(overlay.fault)
        program = program_of(
            self.assignment,
            exercises,
            overlay.sources,
            self.settings,
            submission.faults,
            overlay.given,
        )
        try:
            return Sandbox(self.settings.tier, program)
        except OSError as error:  # the machine has run out of processes or descriptors
            raise WorkerStartError(f"the sandbox does not start: {error}") from error
