"""What is known of one exercise of a submission: answers, references, results of others."""

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from tensormark.exercise import Assignment, Axes, Exercise, Probe
from tensormark.judging.compare import Mismatch
from tensormark.judging.diagnose import Diagnosis, diagnose
from tensormark.judging.fingerprints import AnsweredCall, Observation, observe
from tensormark.result import Outcome, Result
from tensormark.sandbox.interface import Reply
from tensormark.usage import trouble_in


@dataclasses.dataclass
class Evidence:
    """Everything that an exercise is judged by.

    Attributes:
        answered: the answered calls; of each probe, that of the student's own functions first.
        entry: the manifest's entry for the exercise: tolerances and known wrong variants.
        results: those of the exercises so far, by id.
        public: whether values of inputs and references may be shown.
        others: the names of modules that were handed in but are not graded.
        sources: the files that students edit, by name.
        taped: makes a call again, with a tape; None: that is not possible.
        again: makes a call again, in another type or without the call before it, to see whether
            that is what makes it wrong; None: that is not possible.
        troubles: messages for the maintainers; filled in while judging.
    """

    assignment: Assignment
    exercise: Exercise
    answered: list[AnsweredCall]
    entry: Mapping[str, Any]
    results: Mapping[str, Result]
    public: bool = False
    others: Collection[str] = ()
    sources: Mapping[str, str] = dataclasses.field(default_factory=dict)
    taped: Callable[[AnsweredCall, Mismatch], Reply] | None = None
    again: Callable[..., AnsweredCall] | None = None
    troubles: list[str] = dataclasses.field(default_factory=list)

    def answers_to(self, probe: Probe) -> list[AnsweredCall]:
        """Return a probe's answers, that of the student's own functions first."""
        return [answered for answered in self.answered if answered.probe is probe]

    @functools.cached_property
    def failed(self) -> frozenset[str]:
        """The exercises that this one calls and that have not passed."""
        upstream = self.results.keys() & self.exercise.upstream
        return frozenset(id for id in upstream if self.results[id].outcome is not Outcome.PASSED)

    @property
    def wrong(self) -> frozenset[str]:
        """Those of them whose values are wrong."""
        return frozenset(id for id in self.failed if "values" in self.results[id].lost)

    @property
    def axes(self) -> Axes:
        """The names of the axes of outputs."""
        return self.assignment.axes if self.exercise.axes is None else self.exercise.axes

    @functools.cached_property
    def diagnosis(self) -> Diagnosis:
        """The known mistakes that explain the answers."""
        variants = self.entry["variants"]
        counts = {name: variant.get("seen", 0) for name, variant in variants.items()}
        return diagnose(self.levels(), self.entry["rows"], counts)

    def levels(self) -> Iterator[list[Observation]]:
        """Yield what is observed of the calls, those first that depend least on other exercises.

        Calls that run a failed exercise say nothing about this one, and are left out.
        """
        grouped = [self.answers_to(probe) for probe in self.exercise.probes]
        grouped = [answers for answers in grouped if not answers[0].was_not_called]
        for level in reversed(range(max(map(len, grouped)))):
            chosen = [answers[min(level, len(answers) - 1)] for answers in grouped]
            if all(self.failed.issubset(answered.call.given) for answered in chosen):
                yield [observe(answered, self.entry) for answered in chosen]

    def attempt(self, describe: Callable[..., Any], *args: object) -> Any:
        """Return a description of a failed answer, or None if describing it raises."""
        try:
            return describe(self, *args)
        except Exception as error:
            self.troubles.append(trouble_in(error))
            return None
