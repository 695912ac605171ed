"""Grade the exercises of one submission: what is asked of its code, and what is judged."""

import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tensormark import literals
from tensormark.exercise import Assignment, Call, Exercise, Probe
from tensormark.intake.leftovers import UNFINISHED
from tensormark.intake.submission import Submission
from tensormark.judging.compare import Mismatch
from tensormark.judging.fingerprints import AnsweredCall
from tensormark.judging.general import RETURNS_SOMETHING_ELSE
from tensormark.judging.place import order, scaled
from tensormark.judging.replies import without_text
from tensormark.judging.trial import Trial
from tensormark.program import solution_of
from tensormark.references import Recording, References
from tensormark.result import UNIMPORTABLE, CheckFailed, Observer, Outcome, Result
from tensormark.sandbox.interface import Reply, Request, printable
from tensormark.sandbox.sandbox import Sandbox
from tensormark.settings import Settings
from tensormark.task import Task, TaskRun
from tensormark.usage import near
from tensormark.worker.protocol import LINES, TAPE

MAX_REASON = 500  # characters of the reason why an exercise could not be graded


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


def tensor_names_of(call: Call, recording: Recording) -> frozenset[str]:
    """Return the names of the tensors that an answer to a call may have."""
    names = {f"out/{name}" for name in (*call.returns, *recording.outputs)}
    names |= {f"after/{name}" for name in (*call.args, *recording.inputs)}
    return frozenset(names | {f"grad/{name}" for name in recording.gradients})


class Session:
    """Grades exercises of one submission in a sandbox, one after another."""

    def __init__(
        self,
        assignment: Assignment,
        settings: Settings,
        references: References,
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
        self.assignment = assignment
        self.settings = settings
        self.references = references
        self.shows_values = settings.shows_values(references.private)
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
            forbidden=exercise.forbidden,
            tape=tape,
            tensor_names=names.union(TAPE, LINES) if tape else names,
        )

    def replies(
        self, exercise: Exercise, calls: Sequence[tuple[Probe, Call, Recording]]
    ) -> Iterable[Reply]:
        """Run calls with the recorded inputs."""
        requests = [self.request(exercise, call, recording) for _, call, recording in calls]
        return self.sandbox.run(requests, self.observer.progress)

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
        reply = self.shown(next(iter(self.sandbox.run([request], self.observer.progress))))
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
        """Return a reply without texts that may not be shown."""
        if self.shows_values:
            return reply
        return without_text(reply, self.assignment.targets, self.submission.sources)

    # --- the judgement ---

    def trial(self, exercise: Exercise) -> Trial:
        """Return the trial of an exercise: what it is judged by."""
        return Trial(
            assignment=self.assignment,
            exercise=exercise,
            answered=self.ask(exercise),
            entry=self.references.entry(exercise.id),
            results=dict(self.results),
            public=self.shows_values,
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
        run = self.task_run(exercise)
        try:
            self.references.check_checkpoint(self.settings.checkpoint)
            note = task.grade(run)
            if not isinstance(note, str):  # an author's False would pass
                raise TypeError(f"its task returns {note!r}; expected words, or CheckFailed raised")
            result = Result.of(exercise, Outcome.PASSED, exercise.max_score, note=note)
        except CheckFailed as fault:
            lost = frozenset({"values"})
            result = Result.of(exercise, Outcome.FAILED, findings=(fault.finding,), lost=lost)
        except Exception as error:
            result = could_not_grade(exercise, error)
        result.flags = tuple(f"{exercise.id}: {flag}" for flag in run.flags)
        result.measured = run.measured or None
        return result

    def task_run(self, exercise: Exercise) -> TaskRun:
        """Return what a task is graded with."""
        upstream = [self.results[name] for name in exercise.upstream if name in self.results]
        # without isolation, the submission could reach any other process
        isolates = self.sandbox.tier.isolates
        # students may have a folder of this name, too
        has_solution = (self.assignment.solution / self.assignment.main_file).is_file()
        return TaskRun(
            references=self.references,
            data=self.settings.data,
            checkpoint=self.settings.checkpoint,
            ask=self.ask_task,
            ask_solution=self.ask_solution if isolates and has_solution else None,
            doubtful=tuple(result.id for result in upstream if "properties" in result.lost),
        )

    def ask_solution(self, request: Request) -> Reply:
        """Have the solution run a task's request."""
        solution = solution_of(self.sandbox.program, self.assignment)
        return self.sandbox.run_apart(solution, request)

    def ask_task(self, request: Request) -> Reply:
        """Run a task's request, and pass on its progress.

        Its deadline is a multiple of the time that correct code takes, if that was measured.
        """
        deadline = request.deadline
        if request.measured is not None:
            deadline = self.settings.training_times * request.measured
        task = dataclasses.replace(request, deadline=deadline, task=True)
        return self.shown(next(iter(self.sandbox.run([task], self.observer.progress))))
