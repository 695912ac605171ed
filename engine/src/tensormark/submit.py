"""Pack what a student hands in, and grade the pack: `tensormark submit`.

The zip holds the files that students edit, as far as they were edited, and no others. It is graded
as an instructor's grader does: with the given files, in the strictest tier that this machine has.
"""

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tensormark.exercise import Assignment
from tensormark.files import write_whole
from tensormark.folder import open_assignment
from tensormark.grading import Grading
from tensormark.intake.door import InspectionError
from tensormark.intake.given_files import GivenFiles
from tensormark.intake.submission import Submission, SubmissionError, read_submission
from tensormark.references import References, ReferencesError
from tensormark.reports.terminal import Report
from tensormark.reports.text import print_any_letter
from tensormark.result import Grade
from tensormark.sandbox.interface import CONTAINED, LOCKED, PROCESS, printable
from tensormark.settings import Settings, check_writable, submission_parser
from tensormark.strictest import strictest
from tensormark.zipped import zipped

PACKED = "submission.zip"
ISOLATING = (CONTAINED, LOCKED)  # without one, `process` is there, which need not be tried


def chosen(read: Submission, given: GivenFiles) -> dict[str, str]:
    """Return the files to pack: name to text.

    Raises:
        SubmissionError: one cannot be read.
    """
    if read.faults:
        raise SubmissionError("; ".join(read.faults.values()))
    main = given.assignment.main_file
    return {
        name: read.sources[name.removesuffix(".py")]
        for name in given.assignment.editable
        if name == main or not given.untouched(read, name)
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


def digests(references: Path) -> Mapping[str, str]:
    """Return the digests of the given files; none if the references are damaged."""
    try:
        found: Mapping[str, str] = References(references).manifest.get("starter", {})
    except ReferencesError:  # which grading reports
        return {}
    return found


def conclusion(out: Path, made: Grade) -> str:
    """Say what to hand in, and what it scored."""
    score = f"{made.score:g} of {made.max_score:g}"
    bonus = made.sums(bonus=True)
    more = f", and a bonus of {bonus[0]:g} of {bonus[1]:g}" if bonus[0] else ""
    return f"hand in {out}: it scored {score}{more} here; your instructor may use other inputs"


def submit(assignment: Assignment, path: str, out: Path) -> int:
    """Pack and grade; return the exit status.

    Raises:
        SubmissionError: there is nothing to pack. InspectionError: nothing can be read here.
    """
    given = GivenFiles(assignment, digests(assignment.references))
    read = read_submission(path, assignment.editable)
    files = chosen(read, given)
    write_whole(out, zipped({name: text.encode() for name, text in files.items()}))
    sizes = (f"{name} ({len(text.encode()):,} bytes)" for name, text in files.items())
    notes = [f"note: {note}" for note in read.notes]
    print("\n".join([f"packed: {', '.join(sizes)}", *notes, *left_out(Path(path), files, given)]))
    settings = Settings.of(assignment.folder)
    found = strictest(assignment, settings, ISOLATING)
    print("\n".join(f"no tier {reason}" for reason in found.reasons) + "\n" * bool(found.reasons))
    settings = dataclasses.replace(settings, tier=found.tier or PROCESS)
    made = Grading(settings, assignment).grade(str(out), observer=Report())
    print(f"\n{conclusion(out, made)}")
    return 0 if all(result.score is not None for result in made.results) else 3


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Pack and grade what the command line names."""
    parser = submission_parser(folder, name, "Pack and grade what you hand in.")
    parser.add_argument(
        "--out", type=Path, default=folder / PACKED, help="the zip to write (default: %(default)s)"
    )
    print_any_letter()
    try:
        options = parser.parse_args(arguments)
        check_writable(options.out, "out", ".zip")
        return submit(open_assignment(folder), options.submission, options.out)
    except (SubmissionError, InspectionError, OSError) as error:
        print(f"submit: {printable(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nsubmit: interrupted", file=sys.stderr)
        return 130
