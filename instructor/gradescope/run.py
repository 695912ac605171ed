"""Grade one submission on Gradescope: what run_autograder runs, in the autograder's container.

results.json is there from the start, says that the grading did not finish until it has, and is
written again after each exercise, always by renaming. Nothing of instructor/ but this file is in
the autograder's zip.
"""

import argparse
import dataclasses
import json
import sys
from collections.abc import Collection, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from grader.files import ROOT, write_whole
from grader.grading import Grading
from grader.intake.submission import SubmissionError
from grader.reports.platforms import gradescope
from grader.result import Grade, Outcome, Result
from grader.sandbox.interface import CONTAINED, LOCKED, PROCESS, printable
from grader.sandbox.packages import REQUIREMENTS
from grader.settings import Settings
from grader.strictest import Strictest, strictest

LIMIT = 600  # seconds: what Gradescope gives unless it is told otherwise
BUDGET, TRAINING = 0.2, 0.5  # shares of it for all exercises together, and for the fine-tune
TRAINED_IN = 21.5  # seconds for a correct model, if the references do not say
UNFINISHED = "The grading did not finish; what stands below was graded until then."
UNGRADED = "This could not be graded, which is not your fault; tell your instructor."
NOT_COVERED = {
    CONTAINED: "what SECURITY.md lists",
    LOCKED: "a submission sees names, sizes and times of files, not what is in them",
    PROCESS: "a submission can read the private references and forge its results",
}


class Writer:
    """Observes a grading, and writes results.json as it goes on."""

    def __init__(self, path: Path, tier: str) -> None:
        """Write that nothing is graded yet."""
        self.path, self.tier = path, tier
        self.name, self.shown, self.results = "", frozenset[str](), list[Result]()
        self.write(Grade(self.name, tier, []), UNFINISHED)

    def begin(self, assignment: str, submission: str, tier: str, shown: Collection[str]) -> None:
        """Note what is graded."""
        self.name, self.shown = submission, frozenset(shown)

    def progress(self, what: str, done: int, total: int) -> None:
        """Do nothing: each step takes milliseconds."""

    def result(self, result: Result) -> None:
        """Write what is known by now."""
        print(f"{result.outcome}: {result.id}", flush=True)
        if result.id in self.shown:
            self.results.append(result)
            self.write(Grade(self.name, self.tier, self.results), UNFINISHED)

    def end(self, grade: Grade, printed: str) -> None:
        """Write the final results."""
        could_not = any(one.outcome is Outcome.COULD_NOT_GRADE for one in grade.results)
        self.write(grade, UNGRADED if could_not else "")

    def write(self, grade: Grade, first: str) -> None:
        """Write results.json, with a line before what the report says."""
        found: dict[str, Any] = json.loads(gradescope(grade.as_json()))
        found["output"] = "\n".join(filter(None, [first, found.get("output", "")]))
        found["extra_data"] = found.get("extra_data", {}) | {
            "tier": self.tier,
            "not covered": NOT_COVERED.get(self.tier, ""),
        }
        write_whole(self.path, json.dumps(found, indent=2) + "\n")


def missing_packages() -> list[str]:
    """Return the requirements that are not installed in the version that they name."""
    lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    pins = [line.split()[0].split("==") for line in lines if line and not line.startswith("#")]
    missing = []
    for name, pin in pins:
        try:
            found = version(name).partition("+")[0]  # torch's has the kind of processor behind it
        except ImportError:  # PackageNotFoundError is one
            found = "none"
        if found != pin:
            missing.append(f"{name}=={pin}, found {found}")
    return missing


def settings_for(limit: float) -> Settings:
    """Return the settings: references and time, of which half a processor has little."""
    references = ROOT / "references"
    manifest = json.loads((references / "manifest.json").read_text(encoding="utf-8"))
    entry = manifest.get("sentiment")
    measured = entry.get("seconds") if isinstance(entry, dict) else None
    times = TRAINING * limit / float(measured or TRAINED_IN)
    return Settings(references=references, budget=BUDGET * limit, training_times=times)


def allowed() -> Sequence[str]:
    """Return the tiers that may be used: `process` only if the instructor said so."""
    least = (ROOT / "least-tier").read_text(encoding="utf-8").strip()
    return (CONTAINED, LOCKED, PROCESS) if least == PROCESS else (CONTAINED, LOCKED)


def report(found: Strictest) -> None:
    """Print which tier there is, for the instructor."""
    print("\n".join(f"no tier {reason}" for reason in found.reasons))
    said = f"submissions run in the tier {found.tier}: {NOT_COVERED.get(found.tier or '')}"
    print(said if found.tier else "no tier can run here; nothing will be graded", flush=True)


def grade(submission: Path, results: Path, limit: float) -> None:
    """Grade, and write the results."""
    settings = settings_for(limit)
    writer = Writer(results, "")
    found = strictest(settings, allowed())
    report(found)
    if found.tier is None:
        return writer.write(Grade("", "none", []), UNGRADED)
    writer.tier = found.tier
    try:
        Grading(dataclasses.replace(settings, tier=found.tier)).grade(
            str(submission), observer=writer
        )
    except SubmissionError as error:
        message = str(error).replace(f"{submission}: ", "")
        writer.write(Grade("", found.tier, []), f"Nothing was graded: {printable(message)}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Grade, or look at what is installed; return the exit status."""
    parser = argparse.ArgumentParser(prog="run_autograder", description="Grade on Gradescope.")
    parser.add_argument("--packages", action="store_true", help="fail if a requirement is missing")
    parser.add_argument("--tiers", action="store_true", help="say which tier can run here")
    parser.add_argument(
        "--limit", type=float, default=LIMIT, help="seconds for all (default: %(default)s)"
    )
    parser.add_argument("--submission", type=Path, help="the folder that was handed in")
    parser.add_argument("--results", type=Path, help="the file to write")
    options = parser.parse_args(arguments)
    if options.packages:
        print("\n".join(missing := missing_packages()), file=sys.stderr)
        return 1 if missing else 0
    if options.tiers:
        report(strictest(settings_for(options.limit), allowed()))
        return 0
    grade(options.submission, options.results, options.limit)
    return 0


if __name__ == "__main__":
    sys.exit(main())
