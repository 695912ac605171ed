"""Grade a class: `tensormark class SUBMISSIONS`.

Exit status: 0 if everything was graded, whatever its score; 2 if there is nothing to grade, an
option is invalid, or the run cannot continue; 3 if something could not be graded; 130 if the run
was interrupted. After 2, 3 and 130 the same command continues where it stopped, or starts over with
`--force`.
"""

import sys
from collections.abc import Sequence
from pathlib import Path


def grade(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Grade the submissions that the command line names; return the exit status.

    Raises:
        AssignmentError: the assignment cannot be opened.
    """
    # imported here, inside `main`'s handler: it takes a second, in which Ctrl-C may be pressed
    from tensormark.authoring.variants import VariantError
    from tensormark.classroom.appeal import appeal
    from tensormark.classroom.failure import RunError
    from tensormark.classroom.jobs.store import Store, only_run
    from tensormark.classroom.options import STORE, parse
    from tensormark.classroom.run import Run
    from tensormark.folder import open_assignment
    from tensormark.intake.door import InspectionError
    from tensormark.intake.submission import SubmissionError
    from tensormark.references import ReferencesError
    from tensormark.reports.text import print_any_letter
    from tensormark.sandbox.interface import printable

    print_any_letter()
    try:
        options = parse(folder, name, arguments)
        assignment = open_assignment(folder)
        with only_run(options.out), Store(options.out / STORE) as store:
            run = Run(options, store, assignment)
            return run.everybody() if options.only is None else appeal(run, options.only)
    except (
        *(SubmissionError, InspectionError, ReferencesError),
        *(VariantError, RunError, OSError),
    ) as error:
        print(f"{name}: {printable(str(error))}", file=sys.stderr)
        return 2


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Run the command, which Ctrl-C may interrupt; return the exit status."""
    try:
        return grade(folder, name, arguments)
    except KeyboardInterrupt:
        print(f"\n{name}: interrupted; what is graded is kept", file=sys.stderr)
        return 130
