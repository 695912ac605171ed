"""Pack what a student hands in, and grade the pack: `tensormark submit`.

The zip holds those editable files that were edited, and no others. It is graded as by an
instructor: with the given files, in the strictest tier that this machine can provide.
"""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from tensormark.exercise import Assignment
from tensormark.files import write_whole
from tensormark.folder import open_assignment
from tensormark.grading import Grading
from tensormark.intake.given_files import GivenFiles
from tensormark.intake.submission import Part, Submission, SubmissionError, read_beside
from tensormark.predictions import FOLDER, NAME_FILE, accuracy, cleaned, labelled
from tensormark.reports.terminal import Report
from tensormark.reports.text import escape_unencodable_output
from tensormark.result import Grade
from tensormark.sandbox.tiers import ISOLATING, PROCESS
from tensormark.settings import Settings, submission_parser
from tensormark.strictest import strictest
from tensormark.usage import UserError
from tensormark.zipped import check_zip, zipped

COMMAND = "submit"
PACKED = "submission.zip"


def chosen(submission: Submission, given: GivenFiles) -> dict[str, bytes]:
    """Return the files to pack: name to content.

    Raises:
        SubmissionError: a file cannot be read.
    """
    if submission.faults:
        raise SubmissionError("; ".join(submission.faults.values()))
    main = given.assignment.main_file
    return {
        name: submission.sources[name.removesuffix(".py")].encode()
        for name in given.assignment.editable
        if name == main or not given.untouched(submission, name)
    }


def predicted(assignment: Assignment, path: Path, name: str) -> tuple[dict[str, bytes], str]:
    """Return files for the leaderboard, name to content, and what to say about them.

    Args:
        path: the folder where the student works, or a file in it.
        name: what the student wants to be called there.
    """
    board = assignment.leaderboard
    files: dict[str, bytes] = {}
    try:
        for split in [board.test, board.dev] if board else []:
            folder = (path if path.is_dir() else path.parent) / FOLDER
            if not (folder / split.file).exists():
                if name and not files:
                    raise UserError(f"the name, as there is no {FOLDER}/{split.file}")
                break
            text = read_beside([Part(folder)], [], split.file) or ""
            right = split.score(text, labelled(assignment.folder, split.data))
            if files:
                return files, f"{split.file}: accuracy {accuracy(right):.3f}"
            files[split.file] = text.encode()
            if cleaned(name):
                files[NAME_FILE] = cleaned(name).encode()
    except (UserError, OSError, ValueError) as error:
        return files, f"not {'scored' if files else 'packed'}: {error}"
    return files, ""


def conclusion(out: Path, grade: Grade) -> str:
    """Say what to hand in, and what it scored."""
    score, most = grade.sums()
    bonus, bonus_most = grade.sums(bonus=True)
    more = f", and a bonus of {bonus:g} of {bonus_most:g}" if bonus else ""
    ready = f"hand in {out}: it" if score or bonus else f"not ready to hand in: {out}"
    return f"{ready} scored {score:g} of {most:g}{more} here; your instructor may use other inputs"


def submit(assignment: Assignment, path: str, out: Path, name: str = "") -> int:
    """Pack and grade; return the exit status.

    Args:
        name: see `predicted`.

    Raises:
        SubmissionError: nothing to pack. InspectionError: submissions cannot be read here.
    """
    settings = Settings.of(assignment.folder)
    grading = Grading(settings, assignment)
    submission = grading.read(path)
    predictions, said = predicted(assignment, Path(path), name)
    files = chosen(submission, grading.given) | predictions
    write_whole(out, zipped(files, command=COMMAND))
    print(f"packed: {', '.join(files)}")
    if said:
        print(said)
    for note in submission.notes:
        print(f"note: {note}")
    choice = strictest(assignment, settings, ISOLATING)  # `process` always works
    for reason in choice.reasons:
        print(f"cannot use tier {reason}")
    print()
    grading.settings = dataclasses.replace(settings, tier=choice.tier or PROCESS)
    grade = grading.grade(grading.read(str(out)), observer=Report())
    print(f"\n{conclusion(out, grade)}")
    return 0 if all(result.score is not None for result in grade.results) else 3


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Pack and grade what the command line names."""
    parser = submission_parser(folder, name, "Pack the files to hand in, and grade the zip.")
    parser.add_argument(
        "--out", type=Path, default=folder / PACKED, help="the zip to write (default: %(default)s)"
    )
    parser.add_argument(
        "--name", default="", help="your name on the leaderboard (default: anonymous)"
    )
    escape_unencodable_output()
    options = parser.parse_args(arguments)
    check_zip(options.out, COMMAND)
    return submit(open_assignment(folder), options.submission, options.out, options.name)
