"""The grader's pytest plugin: hands checks their trials and turns what they raise into results.

Checks are ordinary test functions under grader/checks/. Markers say what a function is run for:
    once                      once an exercise that has calls
    probes(kind, part=None)   each probe of a kind (reference, random, every, gradients); it counts
                              for the probe's part of the points, or for `part`
    gate                      the sentiment exercise
"""

from collections.abc import Callable, Generator, Iterable
from typing import Any

import pytest

from grader.cases import PARTS, Exercise, Probe
from grader.gate import Gate
from grader.outcomes import (
    Blocked,
    CheckFailed,
    CouldNotGrade,
    Finding,
    NotWrittenYet,
    Outcome,
    Result,
)
from grader.sandbox import Reply
from grader.trial import Trial

Fault = tuple[str, BaseException]  # the part of the points, and what a check raised

KINDS: dict[str, Callable[[Probe], bool]] = {
    "reference": lambda probe: probe.examine is None,
    "random": lambda probe: probe.examine is not None,
    "every": lambda probe: True,
    "gradients": lambda probe: any(call.gradients for call in probe.calls),
}


class Desk:
    """Where a grading run keeps what the plugin needs; grade.py fills it in."""

    def __init__(self, exercises: Iterable[Exercise]) -> None:
        self.exercises = tuple(exercises)
        self.results: dict[str, Result] = {}

    def trial(self, exercise: Exercise) -> Trial:
        """Return the exercise's calls and what came of them."""
        raise NotImplementedError

    def gate(self) -> Gate:
        """Return the sentiment gate."""
        raise NotImplementedError

    def fine_tune(self, gate: Gate) -> Reply:
        """Carry out the fine-tune."""
        raise NotImplementedError

    def finished(self, result: Result) -> None:
        """Take note of an exercise's result."""
        self.results[result.id] = result

    @property
    def failed(self) -> frozenset[str]:
        """The exercises so far that have not passed."""
        results = self.results.values()
        return frozenset(r.id for r in results if r.outcome is not Outcome.PASSED)


def result_of(exercise: Exercise, faults: list[Fault], note: str) -> Result:
    """Add up what the checks of one exercise raised."""
    raised = [fault for _, fault in faults]

    def result(outcome: Outcome, score: float | None, found: Any = (), why: str = "") -> Result:
        most, bonus = exercise.max_score, exercise.extension
        return Result(exercise.id, outcome, score, most, tuple(found), why, bonus)

    own = (CheckFailed, NotWrittenYet, Blocked)
    for fault in raised:
        if not isinstance(fault, own):
            return result(Outcome.COULD_NOT_GRADE, None, why=str(fault) or type(fault).__name__)
    if any(isinstance(fault, NotWrittenYet) for fault in raised):
        return result(Outcome.NOT_WRITTEN, 0.0)
    failed = [(part, fault.finding) for part, fault in faults if isinstance(fault, CheckFailed)]
    if not failed and raised:
        return result(Outcome.BLOCKED, 0.0, why=f"by {raised[0]}")
    if not failed:
        return result(Outcome.PASSED, exercise.max_score, why=note)
    return result(
        Outcome.FAILED, *score_and_findings(exercise, failed, {part for part, _ in faults})
    )


def score_and_findings(
    exercise: Exercise, failed: list[tuple[str, Finding]], lost: set[str]
) -> tuple[float, list[Finding]]:
    """Return the points that are left and the first finding of each part; wrong values cost all.

    A part is lost as well when its checks were blocked: what nobody has seen earns nothing.
    """
    first = dict(reversed(failed))
    if "values" in first:
        return 0.0, [first["values"]]
    findings = {first[part].headline: first[part] for part in PARTS if part in first}
    left = sum(exercise.points[part] for part in exercise.points if part not in lost)
    return 0.0 if "values" in lost else left, list(findings.values())


class Plugin:
    """Runs the checks of the exercises on a desk."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.faults: dict[str, list[Fault]] = {exercise.id: [] for exercise in desk.exercises}
        self.notes: dict[str, str] = {}
        self.trials: dict[str, Trial | BaseException] = {}

    def pytest_configure(self, config: pytest.Config) -> None:
        """Register the markers, and have failures kept short: nobody reads pytest's own words."""
        config.option.tbstyle = "native"
        for marker in ("once", "probes(kind, part)", "gate"):
            config.addinivalue_line("markers", f"{marker}: see grader/plugin.py")

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run each check for the exercises, or the probes, that its marker asks for."""
        graded = [exercise for exercise in self.desk.exercises if exercise.probes]
        if metafunc.definition.get_closest_marker("gate"):
            gates = [exercise for exercise in self.desk.exercises if not exercise.probes]
            parameters = [pytest.param(e, id=f"{e.id}") for e in gates]
            metafunc.parametrize("exercise", parameters)
        elif metafunc.definition.get_closest_marker("once"):
            metafunc.parametrize("exercise", [pytest.param(e, id=e.id) for e in graded])
        elif marker := metafunc.definition.get_closest_marker("probes"):
            wanted = KINDS[marker.args[0]]
            pairs = [
                pytest.param(exercise, probe, id=f"{exercise.id}-{probe.name.replace(' ', '_')}")
                for exercise in graded
                for probe in exercise.probes
                if wanted(probe)
            ]
            metafunc.parametrize(("exercise", "probe"), pairs)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Bring the checks of one exercise together, exercises in their order."""
        # a check that is run for no exercise is collected all the same, without one
        items[:] = [item for item in items if isinstance(exercise_of(item), Exercise)]
        items.sort(key=lambda item: exercise_of(item).order)

    @pytest.fixture
    def trial(self, exercise: Exercise) -> Trial:
        """The exercise on trial, made when its first check asks for it."""
        if exercise.id not in self.trials:
            try:
                self.trials[exercise.id] = self.desk.trial(exercise)
            except Exception as error:
                self.trials[exercise.id] = error
        made = self.trials[exercise.id]
        if isinstance(made, BaseException):
            raise made
        return made

    @pytest.fixture
    def gate(self, exercise: Exercise) -> Gate:
        """The sentiment gate, unless what it needs is not written yet."""
        unwritten = (Outcome.NOT_WRITTEN, Outcome.BLOCKED)
        results = self.desk.results.values()
        blocking = [r.id for r in results if r.id in exercise.upstream and r.outcome in unwritten]
        if blocking:
            raise Blocked(", ".join(blocking))
        return self.desk.gate()

    @pytest.fixture
    def fine_tuned(self, gate: Gate) -> Callable[[], Reply]:
        """Carries out the fine-tune when it is called."""
        return lambda: self.desk.fine_tune(gate)

    @pytest.fixture
    def say(self, exercise: Exercise) -> Callable[[str], None]:
        """Puts a few words on the exercise's line."""
        return lambda words: self.notes.update({exercise.id: words})

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Keep what a check raised."""
        report = yield
        skipped = report.outcome == "skipped"
        if call.excinfo is not None and not skipped:
            self.faults[exercise_of(item).id].append((part_of(item), call.excinfo.value))
        return report

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Ask nothing more of an exercise that is not written yet or could not be graded."""
        final = (NotWrittenYet, CouldNotGrade)
        if any(isinstance(fault, final) for _, fault in self.faults[exercise_of(item).id]):
            pytest.skip()

    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """Hand in an exercise's result when its last check is done."""
        exercise = exercise_of(item)
        if nextitem is None or exercise_of(nextitem) is not exercise:
            trial = self.trials.get(exercise.id)
            leaned_on = sorted(trial.leaned_on) if isinstance(trial, Trial) else []
            note = f"right when it is given a right {' and '.join(leaned_on)}" if leaned_on else ""
            note = self.notes.get(exercise.id, note)
            self.desk.finished(result_of(exercise, self.faults[exercise.id], note))


def exercise_of(item: pytest.Item) -> Exercise:
    """Return the exercise that a check is run for."""
    exercise: Exercise = item.callspec.params["exercise"]  # type: ignore[attr-defined]
    return exercise


def part_of(item: pytest.Item) -> str:
    """Return the part of the points that a check counts for."""
    marker = item.get_closest_marker("probes")
    if marker is None:
        return "values"
    return str(marker.kwargs.get("part") or item.callspec.params["probe"].part)  # type: ignore[attr-defined]
