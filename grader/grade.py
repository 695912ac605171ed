"""Grade one submission: `python -m grader.grade SUBMISSION` (`make check`, `make grade`).

Exit status: 0 when the submission was graded, whatever its score; 2 when there is nothing to grade,
or a knob is wrong; 3 when something could not be graded; 130 when a person has stopped it.
"""

import contextlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grader import cases
from grader.cases import Exercise
from grader.gate import Gate
from grader.handed_in import (
    changed_given_files,
    flags_of,
    given_digests,
    known_before,
    result_of,
    sources_of,
)
from grader.intake import Submission, SubmissionError, read_submission
from grader.knobs import KNOBS, Setup, check_writable, parse, recorded_for
from grader.outcomes import Grade, Outcome, Result
from grader.plugin import Desk, Plugin
from grader.policy import offences
from grader.report import Report
from grader.sandbox import Reply, Request, WorkerStartError, open_sandbox
from grader.store import Recording, Store, StoreError
from grader.trial import Trial, pair
from grader.wall import printable

CHECKS = Path(__file__).with_name("checks")
# pytest as a runner and nothing else: no configuration, plugins, cache or report of its own
PYTEST = ["--disable-plugin-autoload", "-ppytest_timeout", "--timeout=900"]
PYTEST += ["-c", os.devnull, "--rootdir", str(CHECKS), "--capture=no", "--import-mode=importlib"]
UNUSED = "cacheprovider terminal junitxml doctest unraisableexception threadexception faulthandler"
PYTEST += [f"-pno:{name}" for name in UNUSED.split()]


class GradingDesk(Desk):
    """Grades the exercises of one submission in a sandbox."""

    def __init__(
        self,
        exercises: Iterable[Exercise],
        setup: Setup,
        store: Store,
        submission: Submission,
        report: Report,
    ) -> None:
        super().__init__(exercises)
        self.setup, self.store, self.submission, self.report = setup, store, submission, report
        imports = ["config", "base_bert", "bert"]
        if any(not exercise.probes for exercise in self.exercises):
            imports += ["tokenizer", "classifier"]
        sources = sources_of(submission)
        self.sandbox = open_sandbox(
            setup.tier, sources, imports, setup.checkpoint, setup.threads, setup.limits
        )
        self.begin()

    def begin(self) -> None:
        """Have the calls of one exercise after another carried out while answers are compared.

        One thread asks all there is to ask, since a sandbox answers one caller.
        """
        self.caller = ThreadPoolExecutor(1)
        graded = [exercise for exercise in self.exercises if exercise.probes]
        self.asked = {exercise.id: self.caller.submit(self.ask, exercise) for exercise in graded}

    def close(self) -> None:
        """Ask nothing more."""
        self.caller.shutdown(wait=False, cancel_futures=True)

    def ask(self, exercise: Exercise) -> tuple[list[Recording], list[Reply]]:
        """Carry out the exercise's calls, with the recorded inputs."""
        self.store.check_checkpoint(self.setup.checkpoint)
        recordings = self.store.recordings(exercise.id, exercise.digest)
        return recordings, list(self.sandbox.run(self.requests(exercise, recordings)))

    def trial(self, exercise: Exercise) -> Trial:
        """Return the exercise's calls and what came of them."""
        recordings, replies = self.asked[exercise.id].result()
        entry = self.store.entry(exercise.id)
        return Trial(
            exercise=exercise,
            answered=list(pair(exercise, recordings, replies)),
            entry=entry,
            failed=self.failed,
            offences=offences(self.submission.sources[exercise.module]),
        )

    @staticmethod
    def requests(exercise: Exercise, recordings: Iterable[Recording]) -> Iterator[Request]:
        """Turn an exercise's calls into requests to the worker."""
        for call, recording in zip(exercise.calls, recordings, strict=True):
            runs = frozenset({exercise.id, *exercise.upstream} - set(call.given))
            yield Request(exercise.id, runs, call.message(), recording.inputs)

    def gate(self) -> Gate:
        """Open the sentiment gate."""
        self.store.check_checkpoint(self.setup.checkpoint)
        return Gate(self.store, self.setup.data)

    def fine_tune(self, gate: Gate) -> Reply:
        """Carry out the fine-tune, showing how far it is."""
        return self.caller.submit(self.request_fine_tune, gate).result()

    def request_fine_tune(self, gate: Gate) -> Reply:
        """Have the worker fine-tune."""
        return next(self.sandbox.run([gate.request()], self.report.progress))

    def finished(self, result: Result) -> None:
        """Show a result as soon as it is there."""
        super().finished(result)
        self.report.result(result)


def selected(check: bool, only: str | None) -> tuple[list[Exercise], list[str]]:
    """Return the exercises to run, upstream ones included, and the ids of those to report.

    Raises:
        SubmissionError: there is no exercise of that name.
    """
    everything = cases.exercises()
    table = [exercise for exercise in everything if exercise.probes or not check]
    ids = [exercise.id for exercise in table]
    if only is None:
        return table, ids
    if only not in ids and any(exercise.id == only for exercise in everything):
        raise SubmissionError(f"K={only}: that takes a fine-tune; run `make grade K={only}`")
    if only not in ids:
        raise SubmissionError(f"K={only}: there is no such exercise; there are {', '.join(ids)}")
    upstream = next(exercise.upstream for exercise in table if exercise.id == only)
    return [exercise for exercise in table if exercise.id in (only, *upstream)], [only]


def without_gate(references: Path) -> str | None:
    """Say why references have no sentiment threshold, where their manifest gives a reason."""
    try:
        entry = Store(references).manifest.get("sentiment")
    except StoreError:
        return None  # it will be told of every exercise
    return entry if isinstance(entry, str) else None


def run_checks(desk: Desk) -> None:
    """Run the checks with pytest.

    Raises:
        KeyboardInterrupt: a person has stopped it.
        RuntimeError: pytest itself failed, which is the grader's fault.
    """
    os.environ.pop("PYTEST_ADDOPTS", None)  # meant for a person's own tests
    status = pytest.main([*PYTEST, str(CHECKS)], plugins=[Plugin(desk)])
    if status == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise RuntimeError(f"the checks could not be run (pytest exit status {status})")


def results_of(
    submission: Submission,
    exercises: Sequence[Exercise],
    setup: Setup,
    given: Mapping[str, str],
    report: Report,
) -> tuple[list[Result], str]:
    """Grade a submission's exercises; also return what its code printed."""
    known = {e.id: result for e in exercises if (result := known_before(e, submission, given))}
    asked = [exercise for exercise in exercises if exercise.id not in known]
    found, printed = {}, ""
    if asked:
        try:
            desk = GradingDesk(asked, setup, Store(setup.references), submission, report)
        except (StoreError, WorkerStartError) as error:
            why = str(error)
            found = {e.id: result_of(e, Outcome.COULD_NOT_GRADE, why=why) for e in asked}
            for result in found.values():
                report.result(result)
        else:
            with desk.sandbox as sandbox, contextlib.closing(desk):
                run_checks(desk)
            found, printed = desk.results, sandbox.printed.text()
    for result in known.values():
        if result.findings or len(exercises) == 1:  # who has no extensions need not hear of them
            report.result(result)
    return [(known | found)[exercise.id] for exercise in exercises], printed


def grade(path: str, check: bool, only: str | None, setup: Setup) -> Grade:
    """Grade a submission and report on the terminal.

    Args:
        path: a folder, a bert.py or a zip.
        check: leave the fine-tune out.
        only: the id of a single exercise, or None for all.
        setup: what to grade with.

    Raises:
        SubmissionError: there is nothing to grade.
    """
    submission = read_submission(path)
    exercises, shown = selected(check, only)
    given = given_digests(setup.references)
    notes = changed_given_files(Path(path), given)
    if only is None and not check and (why := without_gate(setup.references)):
        exercises = [exercise for exercise in exercises if exercise.probes]
        notes.append(f"sentiment is left out: {why}")
    report = Report(shown)
    report.begin(printable(submission.name), setup.tier)
    results, printed = results_of(submission, exercises, setup, given, report)
    reported = [result for result in results if result.id in shown]
    made = Grade(path, setup.tier, reported, notes, flags_of(submission))
    report.end(made, printed)
    return made


def write_json(path: Path, made: Grade) -> None:
    """Write the result model in one go."""
    text = json.dumps(made.as_json(), indent=2) + "\n"
    temporary = path.with_name(path.name + ".part")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Grade what the command line names."""
    try:
        options = parse(arguments)
        if options.json:
            check_writable(options.json)
        options.references = options.references or recorded_for(options.checkpoint)
        setup = Setup(**{field.name: getattr(options, field.name) for field in KNOBS})
        made = grade(options.submission, options.check, options.only, setup)
        if options.json:
            write_json(options.json, made)
    except (SubmissionError, OSError) as error:
        print(f"grade: {printable(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ngrade: stopped; nothing is written", file=sys.stderr)
        return 130
    return 0 if all(result.score is not None for result in made.results) else 3


if __name__ == "__main__":
    sys.exit(main())
