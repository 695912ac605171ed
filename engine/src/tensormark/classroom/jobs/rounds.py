"""A round of a run: after an estimate of the time, a crew does all jobs of a kind."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic

from tensormark.classroom.failure import Stopped
from tensormark.classroom.jobs import estimate
from tensormark.classroom.jobs.crews import open_crew
from tensormark.classroom.jobs.engine import Blame, Engine, J, Keeper, Stop
from tensormark.classroom.jobs.parcel import packed
from tensormark.classroom.jobs.progress import Progress
from tensormark.classroom.jobs.store import Attempt
from tensormark.classroom.jobs.work import Terms
from tensormark.classroom.options import settings_of
from tensormark.exercise import Assignment
from tensormark.sandbox.interface import PROCESS

NO_TIER = "the tier process isolates nothing: submissions can read and change all that you can"


@dataclass(frozen=True)
class Round(Generic[J]):
    """Jobs of one kind.

    Attributes:
        task: what is to be done, such as "to grade"; done: what was done, such as "graded".
        keeper: stores the answers.
        durations: the seconds that such jobs took before.
        blame, kind: see Engine and Progress.
    """

    jobs: Sequence[J]
    task: str
    done: str
    keeper: Keeper
    durations: Sequence[float]
    blame: Blame[J]
    kind: Callable[[Attempt], str]

    def run(
        self, options: argparse.Namespace, terms: Terms, assignment: Assignment, again: str
    ) -> None:
        """Do all jobs.

        Args:
            again: what the same command does after Ctrl-C.

        Raises:
            Stopped: on Ctrl-C. UserError: no workers are left, or Dask is missing.
        """
        stop, data_files = Stop(), () if options.check else assignment.data_files
        parcel = packed(settings_of(assignment.folder, options), data_files)
        self._announce(options, terms)
        estimated = len(self.durations) >= estimate.FEW
        # made last, as printed lines would break its bar
        progress = Progress(len(self.jobs), estimated=estimated, kind=self.kind)
        try:
            crews = open_crew(options, terms, parcel, assignment.folder, progress.say)
            with stop.on_signals(), crews as crew:
                engine = Engine(crew, self.keeper, terms, progress, stop, self.blame)
                engine.run(self.jobs)
        except KeyboardInterrupt:
            progress.say(f"class: stopped; {again}")
            sys.stdout.flush()
            os._exit(130)  # workers end with this process, and the store needs no closing
        finally:
            progress.close()
        print(f"{progress.finished} done in {estimate.spent(progress.seconds)}", flush=True)
        if progress.finished < len(self.jobs):
            raise Stopped

    def _announce(self, options: argparse.Namespace, terms: Terms) -> None:
        if terms.tier == PROCESS:
            print(NO_TIER, file=sys.stderr)
        where = options.scheduler or f"{options.workers} on this machine"
        workers = 0 if options.scheduler else options.workers
        cost = estimate.expected(len(self.jobs), workers, self.durations, self.done)
        work = f"{len(self.jobs)} {self.task}, tier {terms.tier}, workers: {where}"
        print(f"{work}; {cost}", flush=True)
