"""Pack what a student hands in, and grade the pack: `python -m grader.submit` (`make submit`).

The zip holds the files that students edit, as far as they were edited, and no others. It is graded
as an instructor's grader does: with the given files, in the strictest tier that this machine has.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.assignment import MINBERT
from grader.files import ROOT, write_whole
from grader.grading import Grading
from grader.intake.door import InspectionError
from grader.intake.given_files import GivenFiles
from grader.intake.submission import Submission, SubmissionError, read_submission
from grader.references import References, ReferencesError
from grader.reports.terminal import Report
from grader.reports.text import print_any_letter
from grader.result import Grade
from grader.sandbox.interface import PROCESS, printable
from grader.settings import REFERENCES, Settings, check_writable
from grader.strictest import strictest
from grader.zipped import zipped

OUT = ROOT / "submission.zip"


def chosen(submission: Submission, given: GivenFiles) -> dict[str, str]:
    """Return the files to pack: name to text.

    Raises:
        SubmissionError: one cannot be read.
    """
    if submission.faults:
        raise SubmissionError("; ".join(submission.faults.values()))
    main = given.assignment.main_file
    return {
        name: submission.sources[name.removesuffix(".py")]
        for name in given.assignment.editable
        if name == main or not given.untouched(submission, name)
    }


def left_out(path: Path, files: Mapping[str, str], given: GivenFiles) -> list[str]:
    """Return a line for each kind of module in the student's folder that is not in the zip."""
    if not path.is_dir():
        return []
    there = {file.name for file in path.glob("*.py")} - files.keys()
    if given.assignment.main_file not in {file.name for file in path.glob("*.py")}:
        return []  # what is packed has another name there, which a note says
    own = sorted(there - given.digests.keys() - {*given.assignment.editable})
    as_given = sorted(there & {*given.assignment.editable})
    lines = [f"not written, left out: {', '.join(as_given)}"] if as_given else []
    if own:
        names = printable(", ".join(own))
        main = given.assignment.main_file
        lines.append(f"not handed in: {names}; if {main} needs them, move their code into it")
    return lines


def digests() -> Mapping[str, str]:
    """Return the digests of the given files; none if the references are damaged."""
    try:
        found: Mapping[str, str] = References(REFERENCES).manifest.get("starter", {})
    except ReferencesError:  # which grading reports
        return {}
    return found


def conclusion(out: Path, made: Grade) -> str:
    """Say what to hand in, and what it scored."""
    score = f"{made.score:g} of {made.max_score:g}"
    bonus = made.sums(bonus=True)
    more = f", and a bonus of {bonus[0]:g} of {bonus[1]:g}" if bonus[0] else ""
    return f"hand in {out}: it scored {score}{more} here; your instructor may use other inputs"


def submit(path: str, out: Path) -> int:
    """Pack and grade; return the exit status.

    Raises:
        SubmissionError: there is nothing to pack. InspectionError: nothing can be read here.
    """
    given = GivenFiles(MINBERT, digests())
    read = read_submission(path, MINBERT.editable)
    files = chosen(read, given)
    write_whole(out, zipped({name: text.encode() for name, text in files.items()}))
    sizes = (f"{name} ({len(text.encode()):,} bytes)" for name, text in files.items())
    notes = [f"note: {note}" for note in read.notes]
    print("\n".join([f"packed: {', '.join(sizes)}", *notes, *left_out(Path(path), files, given)]))
    found = strictest(Settings())
    print("\n".join(f"no tier {reason}" for reason in found.reasons) + "\n" * bool(found.reasons))
    made = Grading(Settings(tier=found.tier or PROCESS)).grade(str(out), observer=Report())
    print(f"\n{conclusion(out, made)}")
    return 0 if all(result.score is not None for result in made.results) else 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Pack and grade what the command line names."""
    parser = argparse.ArgumentParser(prog="submit", description="Pack and grade what you hand in.")
    parser.add_argument("submission", help="a folder, a .py file, a zip or a tar")
    parser.add_argument(
        "--out", type=Path, default=OUT, help="the zip to write (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    print_any_letter()
    try:
        check_writable(options.out, "OUT", ".zip")
        return submit(options.submission, options.out)
    except (SubmissionError, InspectionError, OSError) as error:
        print(f"submit: {printable(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nsubmit: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
