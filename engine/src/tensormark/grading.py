"""Grade one submission, from its path to its grade."""

import dataclasses
import datetime
import functools
import itertools
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from tensormark.exercise import Assignment, Exercise
from tensormark.intake.door import InspectionError
from tensormark.intake.given_files import GivenFiles, Overlay
from tensormark.intake.inspection import inspected
from tensormark.intake.needed import needed_by
from tensormark.intake.submission import Submission, SubmissionError, read_submission
from tensormark.judging.checks import could_not_grade, result_of
from tensormark.observer import Observer
from tensormark.policy import usual_names
from tensormark.references import References, ReferencesError
from tensormark.result import Finding, Grade, Outcome, Result
from tensormark.sandbox.interface import Program, Sandbox, WorkerStartError, printable
from tensormark.sandbox.tiers import open_sandbox
from tensormark.selection import selected, unreported
from tensormark.session import GradingSession, blocked
from tensormark.settings import Settings

WITHHELD = (
    "the inputs are private, so texts of exceptions, printed output and expected values are left "
    "out"
)
Opener = Callable[[str, Program], AbstractContextManager[Sandbox]]  # takes a tier


def early_result(exercise: Exercise, submission: Submission, overlay: Overlay) -> Result | None:
    """Return the result of an exercise that need not run, or None.

    Its file was not handed in or is unchanged, or it needs a file that is not valid Python.
    """
    if exercise.task is None and exercise.file in overlay.untouched:
        return result_of(exercise, Outcome.NOT_WRITTEN)
    needed = needed_by(exercise.module, overlay.sources) if submission.faults else ()
    for module in sorted(needed, key=lambda name: name == exercise.module):
        if fault := submission.faults.get(module):
            finding = Finding(f"{module}.py cannot be imported", tuple(fault.split("\n")))
            return result_of(exercise, Outcome.FAILED, (finding,))
    return None


def ungraded(exercises: Sequence[Exercise], error: Exception, observer: Observer) -> list[Result]:
    """Report and return the results of exercises that this machine cannot grade."""
    results = [could_not_grade(exercise, error) for exercise in exercises]
    for result in results:
        observer.result(result)
    return results


def program_of(
    assignment: Assignment,
    exercises: Sequence[Exercise],
    sources: dict[str, str],
    settings: Settings,
) -> Program:
    """Return the program that a sandbox runs to grade these exercises."""
    more = [name for exercise in exercises for name in exercise.imports]
    return Program(
        main_file=assignment.main_file,
        editable=assignment.editable,
        sources=sources,
        imports=tuple(dict.fromkeys([*assignment.imports, *more])),
        harness=assignment.harness,
        requirements=assignment.requirements,
        checkpoint=settings.checkpoint,
        threads=settings.threads,
        limits=settings.limits,
        forbidden=usual_names(assignment.policy.forbidden),
        given_only=usual_names(assignment.policy.given_only),
        rules=assignment.rules,
        budget=settings.budget,
    )


def solution_of(program: Program, assignment: Assignment) -> Program | None:
    """Return a submission's program with the solution's code instead, if there is a solution."""
    folder = assignment.solution
    if not (folder / assignment.main_file).is_file():
        return None
    sources = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}
    return dataclasses.replace(program, sources=sources, forbidden={}, given_only={})


class Grading:
    """Grades submissions of one assignment with the same settings."""

    def __init__(
        self, settings: Settings, assignment: Assignment, opener: Opener = open_sandbox
    ) -> None:
        """Prepare to grade; references are read when first needed, and then cached.

        Args:
            opener: opens a sandbox of a tier.
        """
        self.settings, self.assignment, self.opener = settings, assignment, opener
        self.handout = assignment.handout
        self.references: References | ReferencesError
        try:
            self.references = References(settings.references)
        except ReferencesError as error:  # reported for every exercise
            self.references = error

    def grade(
        self,
        path: str,
        check: bool = False,
        only: str | None = None,
        observer: Observer | None = None,
    ) -> Grade:
        """Grade a submission.

        Args:
            path: a folder, a file or an archive.
            check: leave the training out.
            only: the ids of exercises, separated by commas, or None for all.
            observer: is notified of the progress.

        Raises:
            SubmissionError: there is nothing to grade.
        """
        failed: InspectionError | None = None
        given = self.given
        try:
            others = given.others_in(Path(path))
            submission = read_submission(path, self.assignment.editable, others)
        except InspectionError as error:
            submission, failed = Submission(path, {}, {}), error
        return self.grade_read(submission, check, only, observer, given, failed)

    def grade_read(
        self,
        submission: Submission,
        check: bool = False,
        only: str | None = None,
        observer: Observer | None = None,
        given: GivenFiles | None = None,
        failed: InspectionError | None = None,
    ) -> Grade:
        """Grade a submission that has been read, perhaps on another machine; see `grade`.

        Args:
            given: the given files, if they have been read.
            failed: why it could not be read, if that is this machine's fault.
        """
        began, started = time.monotonic(), datetime.datetime.now(datetime.UTC)
        exercises, shown = selected(self.assignment, check, only)
        observer, notes = observer or Observer(), list[str]()
        if isinstance(self.references, References) and only is None:
            exercises, notes = self.without_tasks_left_out(self.references, exercises)
        overlay = (given or self.given).under(submission)
        hidden = unreported(overlay.untouched, exercises, only)
        tier, listed = self.settings.tier, [name for name in shown if name not in hidden]
        observer.begin(self.assignment.name, printable(submission.name), tier, listed)
        notes = [*overlay.notes, *submission.notes, *notes]
        try:
            if failed is not None:
                raise failed
            submission = inspected(submission)
            results, printed = self.results(submission, exercises, overlay, observer, hidden)
        except InspectionError as error:
            results, printed = ungraded(exercises, error, observer), ""
        reported = self.with_sections([result for result in results if result.id in shown])
        if self.withholds:
            notes.append(WITHHELD)
            printed = ""
        grade = Grade(
            submission=submission.name,
            tier=self.settings.tier,
            results=reported,
            notes=notes,
            flags=[flag for result in reported for flag in result.flags],
            name=printable(submission.name),
            assignment=self.assignment.name,
            mode="check" if check else "grade",
            only=None if only is None else shown,
            private=self.private,
            reference_digest=self.reference_digest,
            started=started.isoformat(timespec="seconds"),
            seconds=time.monotonic() - began,
            printed=printed,
        )
        observer.end(grade, printed)
        return grade

    def with_sections(self, results: Sequence[Result]) -> list[Result]:
        """Add the sections of the handout that explain them to results."""
        for result in results:
            lines = [line for finding in result.findings for line in finding.details]
            result.handout = self.handout.sections(result.id, lines)
        return list(results)

    @property
    def given(self) -> GivenFiles:
        """The given files, with their digests if the references can be read."""
        references = self.references
        manifest = references.manifest if isinstance(references, References) else {}
        return GivenFiles(self.assignment, manifest.get("starter", {}))

    @property
    def private(self) -> bool:
        """Whether the references' inputs are not the public ones."""
        return isinstance(self.references, References) and self.references.private

    @property
    def reference_digest(self) -> str:
        """A digest of the references' manifest, to identify what a submission was graded with."""
        return self.references.digest if isinstance(self.references, References) else ""

    @property
    def withholds(self) -> bool:
        """Whether a submission's texts are not shown, because they might reveal private inputs."""
        return self.private and not self.settings.show_text

    @staticmethod
    def without_tasks_left_out(
        references: References, exercises: Sequence[Exercise]
    ) -> tuple[list[Exercise], list[str]]:
        """Leave out tasks that these references cannot grade; also return a note for each."""
        remaining, notes = [], []
        for exercise in exercises:
            why = exercise.task.left_out(references) if exercise.task else None
            if why is None:
                remaining.append(exercise)
            else:
                notes.append(f"{exercise.id} is left out: {why}")
        return remaining, notes

    def results(
        self,
        submission: Submission,
        exercises: Sequence[Exercise],
        overlay: Overlay,
        observer: Observer,
        hidden: Collection[str],
    ) -> tuple[list[Result], str]:
        """Grade a submission's exercises; also return its printed output."""
        early: dict[str, Result] = {}
        for exercise in exercises:
            result = early_result(exercise, submission, overlay)
            if exercise.task is not None and early.keys() >= {*exercise.upstream}:
                result = blocked(exercise, early) or result
            if result is not None:
                early[exercise.id] = result
        pending = [exercise for exercise in exercises if exercise.id not in early]
        graded: dict[str, Result] = {}
        printed = ""
        reported = [each for each in early.values() if each.findings or each.id not in hidden]
        before = [e.id for e in itertools.takewhile(lambda e: e.id in early, exercises)]
        for result in reported:
            if result.id in before:
                observer.result(result)
        if pending:
            try:
                graded, printed = self.ask(submission, pending, overlay, observer, early)
            except (ReferencesError, WorkerStartError) as error:
                graded = {result.id: result for result in ungraded(pending, error, observer)}
        for result in reported:
            if result.id not in before:
                observer.result(result)
        return [(early | graded)[exercise.id] for exercise in exercises], printed

    def ask(
        self,
        submission: Submission,
        exercises: Sequence[Exercise],
        overlay: Overlay,
        observer: Observer,
        early: Mapping[str, Result],
    ) -> tuple[dict[str, Result], str]:
        """Grade in a new sandbox.

        Args:
            early: the results of exercises that need not run.

        Raises:
            ReferencesError: they are unusable. WorkerStartError: the tier is not available.
        """
        if isinstance(self.references, ReferencesError):
            raise self.references
        if overlay.fault:
            raise SubmissionError(overlay.fault)
        program = program_of(self.assignment, exercises, overlay.sources, self.settings)
        imports = tuple(name for name in program.imports if name not in submission.faults)
        program = dataclasses.replace(program, imports=imports, given=overlay.given)
        try:
            opened = self.opener(self.settings.tier, program)
        except OSError as error:  # the machine has run out of processes or descriptors
            raise WorkerStartError(f"the sandbox does not start: {error}") from error
        with opened as sandbox:
            session = GradingSession(
                self.assignment,
                exercises,
                submission,
                sandbox,
                self.references,
                self.settings,
                observer,
                functools.partial(solution_of, program, self.assignment),
                early,
            )
            results = session.run()
        return results, sandbox.printed.text()
