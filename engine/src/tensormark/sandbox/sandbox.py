"""Run the calls of a submission in one of the tiers."""

import dataclasses
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Self

from tensormark.sandbox import packages
from tensormark.sandbox.container import ServerKey
from tensormark.sandbox.interface import (
    Answers,
    Budget,
    CapturedOutput,
    Program,
    Progress,
    Reply,
    Request,
    ServerLostError,
    WorkerJob,
    WorkerStartError,
)
from tensormark.sandbox.run_job import run_job
from tensormark.sandbox.server import SERVERS, Server
from tensormark.sandbox.tiers import BY_NAME


class Sandbox:
    """Where a submission's code runs; the tiers differ in how well they isolate it.

    Leaving its `with` block closes a sandbox.

    Attributes:
        printed: what the submission has printed.
        server: None until it is needed (again).
    """

    def __init__(self, tier: str, program: Program) -> None:
        """Take a server from the pool, or start one; it imports torch in the background.

        Raises:
            WorkerStartError: the machine lacks something; the message says what.
        """
        self.tier = BY_NAME[tier]
        self.program = program
        self.printed = CapturedOutput()
        self.import_printed = False
        self.budget = Budget(program.budget)
        self.fault: WorkerStartError | None = None  # raised again: the machine will not change
        self.server: Server | None = self._take()
        packages.modules(program.requirements)  # cached now, while the server imports torch

    def _take(self) -> Server:
        """Take a server from the pool.

        Raises:
            WorkerStartError: the machine lacks something; the message says what.
        """
        if not self.tier.isolates:
            return SERVERS.take(self.tier.name)
        program = self.program
        checkpoint = program.checkpoint.resolve() if program.checkpoint else None
        rules = tuple(program.rules.items())
        key = ServerKey(program.harness, program.requirements, checkpoint, rules)
        return SERVERS.take(self.tier.name, key)

    def run_apart(self, program: Program, request: Request) -> Reply:
        """Run a call of another program, unaffected by this one's calls, in an isolating tier.

        Raises:
            WorkerStartError: no server is available.
        """
        self.rest()  # for the other program, which needs a server of the same kind
        with Sandbox(self.tier.name, program) as other:
            (reply,) = other.run([request])
        return reply

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.rest()

    def rest(self) -> None:
        """Return the server to the pool; the next call takes one again."""
        if self.server is not None:
            SERVERS.give_back(self.server)
        self.server = None

    def drop(self) -> None:
        """End the server; the next call gets another."""
        if self.server is not None:
            self.server.close()
        self.server = None

    def forget(self) -> None:
        """Import the program again for the next call, so that nothing is left of earlier ones."""
        self.program = dataclasses.replace(self.program, sources=dict(self.program.sources))

    def reload(self, sources: Mapping[str, str]) -> None:
        """Switch to other sources: for your own code, never a student's."""
        self.program = dataclasses.replace(self.program, sources=dict(sources))
        self.budget = Budget(self.program.budget)

    def run(
        self, requests: Iterable[Request], progress: Progress = lambda what, done, total: None
    ) -> Iterator[Reply]:
        """Run calls in order; after a lost call, skip others that run the same exercise.

        So a function that hangs costs one deadline, not one for each call that runs it.

        Raises:
            WorkerStartError: no worker can start, which is not the submission's fault.
        """
        for _, batch in itertools.groupby(requests, key=lambda request: request.exercise):
            yield from self._run_exercise(list(batch), progress)

    def _run_exercise(self, requests: Sequence[Request], progress: Progress) -> list[Reply]:
        """Run the calls of one exercise; after a lost one, only those that do not run its code."""
        replies: dict[int, Reply] = {}
        while True:
            for index, request in enumerate(requests):
                known = self.budget.known_reply(request)
                if index not in replies and known is not None:
                    replies[index] = known
            pending = [index for index in range(len(requests)) if index not in replies]
            if not pending:
                return [replies[index] for index in range(len(requests))]
            answers = self.attempt(self.job([requests[index] for index in pending]), progress)
            if requests[0].tape is None:  # what a call prints that is made again is known
                self.printed.take(b"".join(answers.printed))
            loaded, *answered = answers.replies
            if loaded.status != "ok":
                self.budget.unloadable = loaded
            for index, reply in zip(pending, answered, strict=False):
                replies[index] = reply
                if requests[index].tape is None:  # it only words what is known already
                    self.budget.add(requests[index], reply)

    def job(self, requests: Sequence[Request]) -> WorkerJob:
        """Return the job of importing the program and running calls."""
        limits = self.program.limits
        importing = Request(
            exercise="",
            runs=frozenset(),
            call={"target": f"importing {self.program.main_file}"},
            tensors={},
            deadline=limits.load_seconds,
            tensor_names=frozenset(),
        )
        calls = [
            dataclasses.replace(request, deadline=min(request.deadline, limits.call_seconds))
            for request in requests
        ]
        most = math.inf
        if self.tier.isolates:
            longest = max(limits.exercise_seconds, *(call.deadline for call in calls))
            most = limits.load_seconds + longest
        return WorkerJob(
            self.program, [importing, *calls], seconds=self.budget.cap(requests[0], most)
        )

    def attempt(self, job: WorkerJob, progress: Progress) -> Answers:
        """Run a job; if its server is lost through no fault of it, try once again in a new one.

        What the import prints is returned the first time only.

        Raises:
            WorkerStartError: no server can start.
        """
        if self.fault is not None:
            raise self.fault
        try:
            try:
                answers = self._attempt_once(job, progress)
            except ServerLostError:
                self.drop()
                answers = self._attempt_once(job, progress)
        except (ServerLostError, WorkerStartError) as error:
            self.drop()
            self.fault = WorkerStartError(f"{error}")
            raise self.fault from error
        if self.import_printed:
            answers.printed[0] = b""
        self.import_printed = True
        return answers

    def _attempt_once(self, job: WorkerJob, progress: Progress) -> Answers:
        """Run a job; its first request decides whether its time counts."""
        if self.server is not None:
            self.server.settle()
        if self.server is None or self.server.is_closed:
            self.server = self._take()
        self.server.wait_until_ready()
        with self.budget.spend(job.steps[1]):
            return run_job(self.server, job, progress)
