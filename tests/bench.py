"""Grade many sources through one worker: the same desk, plugin and checks as `make check`.

Only for this project's own code: a student's is graded in a worker of its own.
"""

import contextlib
import io
from pathlib import Path

from grader import cases
from grader.grade import GradingDesk, run_checks
from grader.intake import Submission
from grader.knobs import Setup
from grader.outcomes import Result
from grader.plugin import Desk
from grader.report import Report
from grader.sandbox import ProcessSandbox
from grader.store import Recording, Store

from conftest import ROOT


class CachedStore(Store):
    """References that are read once."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.kept: dict[str, list[Recording]] = {}

    def recordings(self, exercise: str, digest: str) -> list[Recording]:
        if exercise not in self.kept:
            self.kept[exercise] = super().recordings(exercise, digest)
        return self.kept[exercise]

    def check_checkpoint(self, checkpoint: str | Path) -> None:
        pass  # the tests of references do


class BenchDesk(GradingDesk):
    """Grades a source in a sandbox that is already open."""

    def __init__(self, bench: "Bench", source: str, only: str | None, module: str) -> None:
        table = [e for e in cases.exercises() if e.probes and e.module == module]
        Desk.__init__(self, [exercise for exercise in table if only in (None, exercise.id)])
        self.setup, self.store, self.sandbox = bench.setup, bench.store, bench.sandbox
        self.submission = Submission("bert.py", {module: source}, {})
        self.report = Report(())
        self.begin()


class Bench:
    """One worker, and what it grades."""

    def __init__(self, setup: Setup) -> None:
        self.setup, self.store = setup, CachedStore(setup.references)
        self.given = {p.stem: p.read_text("utf-8") for p in (ROOT / "starter").glob("*.py")}
        self.sources = {p.stem: p.read_text("utf-8") for p in (ROOT / "solution").glob("*.py")}
        self.source = self.sources["bert"]
        imports = ["config", "base_bert", "bert"]
        self.sandbox = ProcessSandbox(self.given, imports, setup.checkpoint, setup.threads)
        self.graded: dict[tuple[str, str | None, str], dict[str, Result]] = {}

    def __enter__(self) -> "Bench":
        self.sandbox.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.sandbox.__exit__(None, None, None)

    def grade(
        self, source: str, only: str | None = None, module: str = "bert"
    ) -> dict[str, Result]:
        """Return the result of each exercise of a module, or of one; ask for each source once."""
        key = source, only, module
        if key not in self.graded:
            self.graded[key] = self.ask(*key)
        return self.graded[key]

    def ask(self, source: str, only: str | None, module: str) -> dict[str, Result]:
        """Grade a source."""
        self.sandbox.reload(self.given | {module: source})
        desk = BenchDesk(self, source, only, module)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.closing(desk):
            run_checks(desk)
        return desk.results


def lost(results: dict[str, Result]) -> set[str]:
    """Return the exercises that cost points."""
    return {name for name, result in results.items() if result.score != result.max_score}


def named(result: Result) -> list[str]:
    """Return the mistakes that were recognised: one, or several that nothing tells apart."""
    return (result.as_json()["mistake"] or "").split("|")
