"""Grade one submission, from its path to its grade."""

import dataclasses
import datetime
import difflib
import functools
import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from tensormark import literals
from tensormark.exercise import Assignment, Call, Exercise, Probe
from tensormark.intake.given_files import FileOverlay, GivenFiles
from tensormark.intake.leftovers import UNFINISHED
from tensormark.intake.needed import needed_by
from tensormark.intake.process import InspectionError
from tensormark.intake.submission import Submission, SubmissionError, inspected, read_submission
from tensormark.judging.compare import Mismatch
from tensormark.judging.fingerprints import AnsweredCall
from tensormark.judging.general import RETURNS_SOMETHING_ELSE
from tensormark.judging.place import order, scaled
from tensormark.judging.replies import without_text
from tensormark.judging.trial import Trial
from tensormark.policy import Policy
from tensormark.references import Recording, References, ReferencesError
from tensormark.result import UNIMPORTABLE, CheckFailed, Finding, Grade, Observer, Outcome, Result
from tensormark.sandbox.interface import Program, Reply, Request, WorkerStartError, printable
from tensormark.sandbox.packages import modules
from tensormark.sandbox.sandbox import Sandbox
from tensormark.settings import Settings
from tensormark.task import Task, TaskRun
from tensormark.usage import UserError, command, near, option, trouble_in
from tensormark.worker.protocol import TAPE

MAX_REASON = 500  # characters of the reason why an exercise could not be graded
WITHHELD = (
    "the inputs are private, so texts of exceptions, printed output and expected values are left "
    "out"
)
Opener = Callable[[str, Program], AbstractContextManager[Sandbox]]  # takes a tier


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
        near = difflib.get_close_matches(name, ids, n=1)
        hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(ids)}"
        raise SubmissionError(f"{option('k', name)}: there is no such exercise; {hint}")
    needed = set(requested).union(*(assignment.exercise(name).upstream for name in requested))
    shown = [name for name in ids if name in requested]
    return [exercise for exercise in available if exercise.id in needed], shown, []


# --- results of exercises that are not judged ---


def could_not_grade(exercise: Exercise, error: Exception | None) -> Result:
    """Return the result of an exercise for which the grader itself is at fault."""
    reason = printable(near(str(error)))[:MAX_REASON] or type(error).__name__
    return Result.of(exercise, Outcome.COULD_NOT_GRADE, None, note=reason)


def blocked(task: Exercise, results: Mapping[str, Result]) -> Result | None:
    """Return the result of a task that cannot run, or None.

    It is blocked by exercises whose values are not right, and cannot be graded if these could not.
    If none could run, all for the same reason, that is said instead.

    Args:
        results: those of earlier exercises, by id.
    """
    upstream = [results[name] for name in task.upstream if name in results]
    blocking = [result for result in upstream if not result.right_values]
    if not blocking:
        return None
    judged = [result.id for result in blocking if result.score is not None]
    if not judged:
        return Result.of(task, Outcome.COULD_NOT_GRADE, None, note=blocking[0].note)
    cause = ", ".join(judged)
    headlines = {result.findings[0].headline if result.findings else "" for result in upstream}
    unimportable = UNIMPORTABLE.fullmatch(headlines.pop())
    if unimportable and not headlines:
        cause = f"{unimportable[1]}, which cannot be imported"
    return Result.of(task, Outcome.BLOCKED, note=f"by {cause}")


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


# --- what runs in the sandbox ---


def program_of(
    assignment: Assignment,
    exercises: Sequence[Exercise],
    sources: Mapping[str, str],
    settings: Settings,
    faults: Collection[str] = (),
    given: Mapping[str, str] | None = None,
) -> Program:
    """Return the program that a sandbox runs to grade these exercises.

    Args:
        faults: modules that cannot be imported.
        given: see `Program`.

    Raises:
        UserError: the assignment needs torch, and it is not installed, or not listed.
    """
    if assignment.uses_torch and find_spec("torch") is None:
        fix = 'run `pip install "tensormark[torch]"`, or give each exercise arrays="numpy"'
        raise UserError(f"{assignment.name} computes with torch, which is not installed; {fix}")
    listed = modules(assignment.requirements)
    if assignment.uses_torch and listed and "torch" not in listed:
        fix = 'list it, or give each exercise arrays="numpy"'
        raise UserError(f"requirements.txt has no torch, which an exercise computes with: {fix}")
    needed = dict.fromkeys(assignment.imports)
    for exercise in exercises:
        needed |= dict.fromkeys(exercise.imports)
    return Program(
        main_file=assignment.main_file,
        editable=assignment.editable,
        sources=sources,
        imports=tuple(module for module in needed if module not in faults),
        harness=assignment.harness,
        requirements=assignment.requirements,
        checkpoint=settings.checkpoint,
        threads=settings.threads,
        limits=settings.limits,
        policy=assignment.policy,
        rules=assignment.rules,
        budget=settings.budget,
        given=given or {},
    )


def solution_of(program: Program, assignment: Assignment) -> Program | None:
    """Return a submission's program with the solution's code instead, if there is a solution."""
    if not (assignment.solution / assignment.main_file).is_file():
        return None
    sources = assignment.solution_sources
    return dataclasses.replace(program, sources=sources, policy=Policy())


def tensor_names_of(call: Call, recording: Recording) -> frozenset[str]:
    """Return the names of the tensors that an answer to a call may have."""
    names = {f"out/{name}" for name in (*call.returns, *recording.outputs)}
    names |= {f"after/{name}" for name in (*call.args, *recording.inputs)}
    return frozenset(names | {f"grad/{name}" for name in recording.gradients})


class Grading:
    """Grades submissions of one assignment with the same settings.

    Attributes:
        references: None if they cannot be used; fault: why not, reported for every exercise.
    """

    def __init__(
        self, settings: Settings, assignment: Assignment, opener: Opener = Sandbox
    ) -> None:
        """Prepare to grade; references are read when first needed, and then cached.

        Args:
            opener: opens a sandbox of a tier.
        """
        self.settings = settings
        self.assignment = assignment
        self.opener = opener
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
        return not self.private or self.settings.show_text

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
            reference_digest=self.references.digest if self.references else "",
            started=started.isoformat(timespec="seconds"),
            seconds=(datetime.datetime.now(datetime.UTC) - started).total_seconds(),
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
                    session = Session(self, submission, exercises, observer, early)
                    results = session.run(sandbox)
                return list(results.values()), sandbox.printed.text()
        except (InspectionError, ReferencesError, WorkerStartError) as error:
            fault = error
        unrun = [early.get(each.id) or could_not_grade(each, fault) for each in exercises]
        for result in unrun:
            observer.result(result)
        return unrun, ""

    def open(
        self, submission: Submission, exercises: Sequence[Exercise], overlay: FileOverlay
    ) -> AbstractContextManager[Sandbox]:
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
            return self.opener(self.settings.tier, program)
        except OSError as error:  # the machine has run out of processes or descriptors
            raise WorkerStartError(f"the sandbox does not start: {error}") from error


class Session:
    """Grades exercises of one submission in a sandbox, one after another."""

    def __init__(
        self,
        grading: Grading,
        submission: Submission,
        exercises: Sequence[Exercise],
        observer: Observer | None = None,
        early: Mapping[str, Result] | None = None,
    ) -> None:
        """Prepare a session; nothing runs before `run`.

        Args:
            exercises: those to grade, in order, upstream ones included.
            early: the results of exercises that need not run.
        """
        assert grading.references is not None
        self.grading = grading
        self.references = grading.references
        self.assignment = grading.assignment
        self.settings = grading.settings
        self.submission = submission
        self.exercises = exercises
        self.observer = observer or Observer()
        self.early = early or {}
        self.results: dict[str, Result] = {}
        self.is_chosen = False  # the solution that is compared with, if there are several
        self.lost_tape: Reply | None = None  # that of a call that hangs where it is recorded

    def run(self, sandbox: Sandbox) -> dict[str, Result]:
        """Grade; return the results by id, in order.

        Args:
            sandbox: open, with the submission laid over the given files.
        """
        self.sandbox = sandbox
        with np.errstate(all="ignore"):  # an answer may have any numbers
            for exercise in self.exercises:
                result = self.early.get(exercise.id) or self.graded_by_one(exercise)
                self.results[exercise.id] = result
                self.observer.result(result)
        return self.results

    def graded_by_one(self, exercise: Exercise) -> Result:
        """Grade an exercise, and choose the solution that a submission has to agree with.

        The first exercise that has several right answers decides for all that follow.
        """
        result = self.graded(exercise)
        others = [] if self.is_chosen else self.references.others(exercise.id)
        self.is_chosen |= bool(others)
        chosen = self.references
        for other in others if result.outcome is Outcome.FAILED else ():
            self.references = chosen.with_other(other)
            again = self.graded(exercise)
            if (again.score or 0.0) > (result.score or 0.0):
                result, chosen = again, self.references
        self.references = chosen
        return result

    def graded(self, exercise: Exercise) -> Result:
        """Grade an exercise.

        Calls with stand-ins are made only if the student's own functions together are wrong.
        """
        if exercise.task is not None:
            return self.graded_task(exercise, exercise.task)
        try:
            trial = self.trial(exercise)
            # without stand-ins, a mistake of its own may make up for one upstream
            if trial.doubtful or trial.undecided:
                trial.answered += self.ask(exercise, stand_ins=True)
            result = trial.result()
            result.flags = trial.flags
            name = f"{exercise.module}.{exercise.calls[0].target}"
            hint = self.submission.hints.get(name, "")
            nothing = [each.mistake for each in result.findings] == [RETURNS_SOMETHING_ELSE]
            if result.outcome is Outcome.NOT_WRITTEN or (nothing and hint == UNFINISHED):
                result = Result.of(exercise, Outcome.NOT_WRITTEN, note=hint, flags=trial.flags)
            return result
        except Exception as error:  # an answer's own faults have a result by now; see checks.py
            return could_not_grade(exercise, error)

    # --- calls ---

    def recorded_calls(
        self, exercise: Exercise, stand_ins: bool = False
    ) -> list[tuple[Probe, Call, Recording]]:
        """Return the calls of the student's own functions, or those with stand-ins."""
        self.references.check_checkpoint(self.settings.checkpoint)
        recordings = self.references.recordings(exercise.id, exercise.digest)
        calls = []
        for (probe, call), recording in zip(exercise.asked, recordings, strict=True):
            is_own = call is probe.calls[0]
            if is_own != stand_ins:
                calls.append((probe, call, recording))
        return calls

    def request(
        self, exercise: Exercise, call: Call, recording: Recording, tape: Any = None
    ) -> Request:
        """Return the request to make a call with the recorded inputs.

        Args:
            tape: what to record of it; see `Request`.
        """
        lost = self.sandbox.budget.lost.keys()  # exercises that hang or end the process
        message, tensors = literals.sent(call.message(), recording.inputs)
        message["observe"] = lost.isdisjoint(exercise.upstream)
        names = tensor_names_of(call, recording)
        return Request(
            exercise.id,
            frozenset({exercise.id, *exercise.upstream} - set(call.given)),
            message,
            tensors,
            tensor_names=names.union(TAPE) if tape else names,
            forbidden=exercise.forbidden,
            tape=tape,
        )

    def replies(
        self, exercise: Exercise, calls: Sequence[tuple[Probe, Call, Recording]]
    ) -> Iterable[Reply]:
        """Run calls with the recorded inputs."""
        requests = [self.request(exercise, call, recording) for _, call, recording in calls]
        return self.sandbox.run(requests)

    def ask(self, exercise: Exercise, stand_ins: bool = False) -> list[AnsweredCall]:
        """Run calls of an exercise: those of the student's own functions, or with stand-ins."""
        calls = self.recorded_calls(exercise, stand_ins)
        replies = self.replies(exercise, calls)
        return [
            AnsweredCall(*call, self.shown(reply))
            for call, reply in zip(calls, replies, strict=True)
        ]

    def taped(self, exercise: Exercise, answered: AnsweredCall, mismatch: Mismatch) -> Reply:
        """Make a call that failed once more, with a tape; none, once one had to be ended."""
        if self.lost_tape is not None:
            return self.lost_tape
        scales = scaled(answered.probe, answered.call)
        tape = order(exercise.calls[0].target, self.assignment.targets, scales, mismatch)
        request = self.request(exercise, answered.call, answered.recording, tape)
        reply = self.shown(next(iter(self.sandbox.run([request]))))
        self.lost_tape = reply if reply.hung else None
        return reply

    def again(
        self, exercise: Exercise, answered: AnsweredCall, dtype: str = "", alone: bool = False
    ) -> AnsweredCall:
        """Make a call once more.

        Args:
            dtype: the type to compute in, if it is another one.
            alone: without any call before it.
        """
        call = dataclasses.replace(answered.call, dtype=dtype or answered.call.dtype)
        inputs = answered.recording.inputs
        if alone:
            self.sandbox.forget()
            inputs = literals.alone(inputs)
        recording = dataclasses.replace(answered.recording, inputs=inputs)
        (reply,) = self.replies(exercise, [(answered.probe, call, recording)])
        return AnsweredCall(answered.probe, call, recording, self.shown(reply))

    def shown(self, reply: Reply) -> Reply:
        """Return a reply without texts that may not be shown.

        Whatever a reply holds only affects its own exercise; only an unreadable file or a lack of
        memory is the grader's problem.
        """
        if self.grading.shows_values:
            return reply
        try:
            return without_text(reply, self.assignment.targets, self.submission.sources)
        except (OSError, MemoryError):
            raise
        except Exception as error:
            text = "gave an answer that could not be read"
            return Reply("lost", text, trouble=trouble_in(error))

    # --- the judgement ---

    def trial(self, exercise: Exercise) -> Trial:
        """Return the trial of an exercise: what it is judged by."""
        return Trial(
            assignment=self.assignment,
            exercise=exercise,
            answered=self.ask(exercise),
            entry=self.references.entry(exercise.id),
            results=dict(self.results),
            public=self.grading.shows_values,
            others=self.submission.others,
            sources=self.sandbox.program.edited,
            taped=functools.partial(self.taped, exercise),
            again=functools.partial(self.again, exercise),
        )

    # --- tasks ---

    def graded_task(self, exercise: Exercise, task: Task) -> Result:
        """Run and judge a task, unless it is blocked."""
        result = blocked(exercise, self.results)
        if result is not None:
            return result
        flags: list[str] = []
        measured: dict[str, Any] = {}
        try:
            self.references.check_checkpoint(self.settings.checkpoint)
            note = task.grade(self.task_run(exercise, flags.append, measured.update))
            if not isinstance(note, str):  # an author's False would pass
                raise TypeError(f"its task returns {note!r}; expected words, or CheckFailed raised")
            result = Result.of(exercise, Outcome.PASSED, exercise.max_score, note=note)
        except CheckFailed as fault:
            lost = frozenset({"values"})
            result = Result.of(exercise, Outcome.FAILED, findings=(fault.finding,), lost=lost)
        except Exception as error:
            result = could_not_grade(exercise, error)
        result.flags = tuple(f"{exercise.id}: {flag}" for flag in flags)
        result.measured = measured or None
        return result

    def task_run(
        self,
        exercise: Exercise,
        flag: Callable[[str], None],
        show: Callable[[Mapping[str, Any]], None],
    ) -> TaskRun:
        """Return what a task is graded with."""
        upstream = [self.results[name] for name in exercise.upstream if name in self.results]
        apart = self.sandbox.apart
        solution = solution_of(self.sandbox.program, self.assignment) if apart else None
        return TaskRun(
            references=self.references,
            data=self.settings.data,
            checkpoint=self.settings.checkpoint,
            ask=self.ask_task,
            ask_solution=functools.partial(apart, solution) if apart and solution else None,
            flag=flag,
            show=show,
            doubtful=tuple(result.id for result in upstream if "properties" in result.lost),
        )

    def ask_task(self, request: Request) -> Reply:
        """Run a task's request, and pass on its progress.

        Its deadline is a multiple of the time that correct code takes, if that was measured.
        """
        progress = functools.partial(self.observer.progress, request.target)
        deadline = request.deadline
        if request.measured is not None:
            deadline = self.settings.training_times * request.measured
        task = dataclasses.replace(request, deadline=deadline, task=True)
        return self.shown(next(iter(self.sandbox.run([task], progress))))
