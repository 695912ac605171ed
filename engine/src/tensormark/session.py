"""A grading session: runs one submission's exercises in a sandbox, and judges and reports them.

The session is given its sandbox, references and observer, so that a class of submissions, a
benchmark or a test runs the same code as `grade`. A second thread runs the calls in the sandbox,
one after another, while finished answers are judged here.
"""

import dataclasses
import functools
import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from tensormark.calling import OWN, Calling
from tensormark.exercise import Assignment, Exercise
from tensormark.intake.submission import Submission
from tensormark.judging.checks import (
    could_not_grade,
    judge,
    needs_stand_ins,
    result_of_faults,
    rounds,
)
from tensormark.judging.fingerprints import AnsweredCall
from tensormark.judging.raised import FORBIDDEN, texts
from tensormark.judging.trial import Trial
from tensormark.observer import Observer
from tensormark.references import References
from tensormark.result import UNIMPORTABLE, UNWRITTEN, Blocked, CheckFailed, Outcome, Result
from tensormark.sandbox.interface import Program, Reply, Request, Sandbox, Shared
from tensormark.settings import Settings
from tensormark.sharing import groups
from tensormark.task import TaskRun

ANSWER_RAISED = "an answer made the grader raise"
RAN = "library code that ran:"
MAX_ENTERED = 32  # names of library code that are shown


def cause_of(upstream: Sequence[Result], blocking: Sequence[str]) -> str:
    """Say what blocks a task: exercises, or the only reason why none of them could run."""
    headlines = {result.findings[0].headline if result.findings else "" for result in upstream}
    match = UNIMPORTABLE.fullmatch(next(iter(headlines))) if len(headlines) == 1 else None
    return f"{match[1]}, which cannot be imported" if match else ", ".join(blocking)


def blocked(task: Exercise, results: Mapping[str, Result]) -> Result | None:
    """Return the result of a task that cannot run, or None.

    It is blocked by exercises that are not written yet or do what is forbidden, or if all that it
    needs are wrong.

    Args:
        results: those of earlier exercises, by id.
    """
    upstream = [results[name] for name in task.upstream if name in results]
    blocking = [
        result.id
        for result in upstream
        if result.outcome in UNWRITTEN or any(f.mistake == FORBIDDEN for f in result.findings)
    ]
    failed = [result.id for result in upstream if result.outcome is Outcome.FAILED]
    if len(failed) == len(upstream) and not any(result.right_values for result in upstream):
        blocking = failed
    if not blocking:
        return None
    return result_of_faults(task, [("values", Blocked(cause_of(upstream, blocking)))])


def flags_of(trial: Trial) -> tuple[str, ...]:
    """Return what staff may want to know: library code that ran, and faults in judging it.

    The worker says what ran, so nothing depends on it.
    """
    in_replies = [answered.reply.trouble for answered in trial.answered]
    troubles = dict.fromkeys(filter(None, [*in_replies, *trial.troubles]))
    flags = [f"{ANSWER_RAISED} {trouble}" for trouble in troubles]
    entered = [name for answered in trial.answered for name in texts(answered.reply, "entered")]
    names = [*dict.fromkeys(entered)]
    names[MAX_ENTERED:] = [f"{len(names) - MAX_ENTERED} more"] if len(names) > MAX_ENTERED else []
    if names:
        flags.insert(0, f"{RAN} {', '.join(names)}")
    return tuple(f"{trial.exercise.id}: {flag}" for flag in flags)


class GradingSession:
    """Grades exercises of one submission in a sandbox."""

    def __init__(
        self,
        assignment: Assignment,
        exercises: Sequence[Exercise],
        submission: Submission,
        sandbox: Sandbox,
        references: References,
        settings: Settings,
        observer: Observer,
        solution: Callable[[], Program | None] = lambda: None,
        early: Mapping[str, Result] | None = None,
    ) -> None:
        """Prepare a session; nothing runs before `run`.

        Args:
            exercises: those to grade, in order, upstream ones included.
            sandbox: open, with the submission laid over the given files.
            solution: returns the solution's program, if there is one; called only for tasks.
            early: the results of exercises upstream that need not run.
        """
        self.assignment, self.exercises = assignment, exercises
        self.sandbox, self.references, self.settings = sandbox, references, settings
        self.calling = Calling(assignment, submission, sandbox, references, settings)
        self.observer, self.solution = observer, solution
        self.early, self.results = early or {}, dict[str, Result]()
        self.caller = ThreadPoolExecutor(1)  # runs the calls

    def run(self) -> dict[str, Result]:
        """Grade; return the results by id, in order.

        Exercises after a task start only when the task is done, so that an extension that hangs
        cannot delay the training.
        """
        try:
            with np.errstate(all="ignore"):  # an answer may have any numbers
                for batch in self.batches():
                    self.run_batch(batch)
        finally:
            self.caller.shutdown(wait=False, cancel_futures=True)
        return self.results

    def batches(self) -> Iterable[list[Exercise]]:
        """Return exercises to ask for at the same time; a task is always on its own."""
        if self.sandbox.together is not None:
            return groups(self.exercises, self.references)
        batches = itertools.groupby(self.exercises, key=lambda each: each.task and each.id)
        return ([*batch] for _, batch in batches)

    def run_batch(self, batch: Sequence[Exercise]) -> None:
        """Grade exercises, in one process if possible; an answer is dropped once it is judged."""
        if batch[0].task is not None:
            self.finish_task(batch[0])
        elif self.sandbox.together is not None and len(batch) > 1:
            shared = self.caller.submit(self.calling.ask_together, batch)
            for exercise in batch:
                self.finish(exercise, functools.partial(self.shared_or_alone, shared))
        else:
            futures = [self.caller.submit(self.calling.ask, exercise, OWN) for exercise in batch]
            for exercise in batch:
                self.finish(exercise, functools.partial(self.alone, futures.pop(0)))

    def is_first(self, exercise: Exercise) -> bool:
        """Say whether it is the first exercise of its file to be judged."""
        judged = (self.assignment.exercise(name) for name in self.results)
        return all(other.file != exercise.file for other in judged)

    def trial(self, exercise: Exercise, answered: list[AnsweredCall]) -> Trial:
        """Return the trial of an exercise: what it is judged by."""
        return Trial(
            assignment=self.assignment,
            exercise=exercise,
            answered=answered,
            entry=self.references.entry(exercise.id),
            failed=self.failed,
            wrong=self.wrong,
            first_of_file=self.is_first(exercise),
            public=self.calling.shows_values,
        )

    def alone(self, future: Future[list[AnsweredCall]], exercise: Exercise) -> Trial:
        """Return the trial of an exercise whose calls did not share a process."""
        return self.trial(exercise, future.result())

    def shared_or_alone(self, shared: Future[dict[str, Shared]], exercise: Exercise) -> Trial:
        """Return the trial of an exercise by answers from a process that it shared, if they count.

        They do if they are right, if nothing is written, or if no other exercise ran before. Other
        answers may be another exercise's fault: they do no harm if the calls with stand-ins are
        right; if not, the calls are repeated alone.
        """
        answered: list[AnsweredCall] = []
        if (answers := shared.result().get(exercise.id)) is not None:
            calls = self.calling.recorded_calls(exercise, OWN)
            answered = self.calling.answered(calls, answers.replies)
            trial = self.trial(exercise, answered)
            counts = answers.first or trial.unwritten or not needs_stand_ins(trial)
            if not counts and any(self.failed.intersection(call.given) for call in exercise.calls):
                self.stand_in(trial, next(rounds(exercise, self.failed)))
                counts = not needs_stand_ins(trial)
            if counts:
                self.sandbox.printed.take(answers.printed)
                return trial
        own = self.caller.submit(self.calling.ask, exercise, OWN).result()
        return self.trial(exercise, [*own, *answered[len(own) :]])

    def stand_in(self, trial: Trial, places: Collection[int]) -> None:
        """Add answers of calls with stand-ins to a trial, unless it has them."""
        if not any(each.probe.calls.index(each.call) in places for each in trial.answered):
            trial.answered += self.caller.submit(self.calling.ask, trial.exercise, places).result()
            trial.answered.sort(key=lambda each: each.probe.calls.index(each.call))

    def finish(self, exercise: Exercise, first: Callable[[Exercise], Trial]) -> None:
        """Judge an exercise as soon as its answers are available.

        Calls with stand-ins are made only if the student's own functions together are wrong, and
        only as many as it takes to decide.

        Args:
            first: returns its trial, with answers of the student's own functions together.
        """
        try:
            trial = first(exercise)
            for places in rounds(exercise, self.failed):
                # without stand-ins, a mistake of its own may make up for one upstream
                if trial.doubtful or needs_stand_ins(trial):
                    self.stand_in(trial, places)
            result = judge(trial)
            result.flags = flags_of(trial)
            if result.outcome is Outcome.NOT_WRITTEN:
                result.note = self.calling.hint(exercise)
        except Exception as error:  # an answer's own faults have a result by now; see faults.py
            result = could_not_grade(exercise, error)
        self.take(result)

    def finish_task(self, exercise: Exercise) -> None:
        """Run and judge a task, unless it is blocked."""
        assert exercise.task is not None
        so_far = {**self.early, **self.results}
        if (result := blocked(exercise, so_far)) is not None:
            return self.take(result)
        upstream = [so_far[name] for name in exercise.upstream if name in so_far]
        wrong = tuple(result.id for result in upstream if not result.right_values)
        doubtful = tuple(r.id for r in upstream if r.right_values and "properties" in r.lost)
        flags: list[str] = []
        measured: dict[str, Any] = {}
        try:
            self.references.check_checkpoint(self.settings.checkpoint)
            note = exercise.task.grade(
                self.task_run(wrong, doubtful, flags.append, measured.update)
            )
            result = result_of_faults(exercise, [], note)
        except CheckFailed as fault:
            result = result_of_faults(exercise, [("values", fault)])
        except Exception as error:
            result = could_not_grade(exercise, error)
        result.flags = tuple(f"{exercise.id}: {flag}" for flag in flags)
        result.measured = measured or None
        self.take(result)

    def task_run(
        self,
        wrong: tuple[str, ...],
        doubtful: tuple[str, ...],
        flag: Callable[[str], None],
        show: Callable[[Mapping[str, Any]], None],
    ) -> TaskRun:
        """Return what a task is graded with."""
        apart = self.sandbox.apart
        solution = self.solution() if apart is not None else None
        ask_solution, why_not = None, ""
        if apart is None:
            why_not = f"the tier {self.settings.tier} isolates nothing"
        elif solution is None:
            why_not = "there is no solution here"
        else:
            ask_solution = functools.partial(apart, solution)
        return TaskRun(
            references=self.references,
            data=self.settings.data,
            checkpoint=self.settings.checkpoint,
            ask=self.request,
            ask_solution=ask_solution,
            why_not=why_not,
            wrong=wrong,
            flag=flag,
            show=show,
            doubtful=doubtful,
        )

    def request(self, request: Request) -> Reply:
        """Run a task's request, and pass on its progress.

        Its deadline is a multiple of the time that correct code takes, if that was measured.
        """
        progress = functools.partial(self.observer.progress, request.target)
        deadline = request.deadline
        if request.measured is not None:
            deadline = self.settings.training_times * request.measured
        task = dataclasses.replace(request, deadline=deadline, task=True)
        return self.calling.student_reply(next(iter(self.sandbox.run([task], progress))))

    def take(self, result: Result) -> None:
        """Store a result and report it."""
        self.results[result.id] = result
        self.observer.result(result)

    @property
    def wrong(self) -> frozenset[str]:
        """The exercises whose values are wrong."""
        results = {**self.early, **self.results}.values()
        failed = (result for result in results if result.outcome is Outcome.FAILED)
        return frozenset(result.id for result in failed if not result.right_values)

    @property
    def failed(self) -> frozenset[str]:
        """The exercises that have not passed so far."""
        results = {**self.early, **self.results}.values()
        return frozenset(r.id for r in results if r.outcome is not Outcome.PASSED)
