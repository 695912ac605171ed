"""Pack what a student hands in, and grade the pack: `tensormark submit`.

The zip holds those editable files that were edited, and no others. It is graded as by an
instructor: with the given files, in the strictest tier that this machine can provide.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from tensormark.exercise import Assignment
from tensormark.files import write_whole
from tensormark.folder import open_assignment
from tensormark.grading import Grading
from tensormark.intake.given_files import GivenFiles
from tensormark.intake.submission import Submission, SubmissionError, read_submission
from tensormark.reports.terminal import Report
from tensormark.reports.text import print_any_letter
from tensormark.result import Grade
from tensormark.sandbox.interface import PROCESS, printable
from tensormark.settings import Settings, check_writable, submission_parser
from tensormark.strictest import ISOLATING, strictest
from tensormark.zipped import check_zip, zipped

COMMAND = "submit"
PACKED = "submission.zip"


def chosen(submission: Submission, given: GivenFiles) -> dict[str, str]:
    """Return the files to pack: name to text.

    Raises:
        SubmissionError: a file cannot be read.
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
    present = {file.name for file in path.glob("*.py")}
    if given.assignment.main_file not in present:
        return []  # the main file has another name there, which a note says
    unpacked = present - files.keys()
    own = sorted(unpacked - given.digests.keys() - {*given.assignment.editable})
    as_given = sorted(unpacked & {*given.assignment.editable})
    lines = [f"not written, left out: {', '.join(as_given)}"] if as_given else []
    if own:
        names = printable(", ".join(own))
        main = given.assignment.main_file
        lines.append(f"not handed in: {names}; if {main} needs them, move their code into it")
    return lines


def conclusion(out: Path, grade: Grade) -> str:
    """Say what to hand in, and what it scored."""
    score = f"{grade.score:g} of {grade.max_score:g}"
    bonus = grade.sums(bonus=True)
    more = f", and a bonus of {bonus[0]:g} of {bonus[1]:g}" if bonus[0] else ""
    return f"hand in {out}: it scored {score}{more} here; your instructor may use other inputs"


def submit(assignment: Assignment, path: str, out: Path) -> int:
    """Pack and grade; return the exit status.

    Raises:
        SubmissionError: nothing to pack. InspectionError: submissions cannot be read here.
    """
    settings = Settings.of(assignment.folder)
    given = Grading(settings, assignment).given
    submission = read_submission(path, assignment.editable, dict.fromkeys(given.fixed, ""))
    files = chosen(submission, given)
    packed = {name: text.encode() for name, text in files.items()}
    write_whole(out, zipped(packed, command=COMMAND))
    sizes = (f"{name} ({len(text.encode()):,} bytes)" for name, text in files.items())
    notes = [f"note: {note}" for note in submission.notes]
    print("\n".join([f"packed: {', '.join(sizes)}", *notes, *left_out(Path(path), files, given)]))
    choice = strictest(assignment, settings, ISOLATING)  # `process` always works
    print(
        "\n".join(f"cannot use tier {reason}" for reason in choice.reasons)
        + "\n" * bool(choice.reasons)
    )
    settings = dataclasses.replace(settings, tier=choice.tier or PROCESS)
    grade = Grading(settings, assignment).grade(str(out), observer=Report())
    print(f"\n{conclusion(out, grade)}")
    return 0 if all(result.score is not None for result in grade.results) else 3


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Pack and grade what the command line names."""
    parser = submission_parser(folder, name, "Pack the files to hand in, and grade the zip.")
    parser.add_argument(
        "--out", type=Path, default=folder / PACKED, help="the zip to write (default: %(default)s)"
    )
    print_any_letter()
    options = parser.parse_args(arguments)
    check_zip(options.out, COMMAND)
    check_writable(options.out, "out")
    return submit(open_assignment(folder), options.submission, options.out)
