"""What `python -m instructor.course` does, and the exit status of it; see __main__.py."""

import sys
from collections.abc import Sequence

from grader.intake.door import InspectionError
from grader.intake.submission import SubmissionError
from grader.references import ReferencesError
from grader.reports.text import print_any_letter
from grader.sandbox.interface import printable
from instructor.course.canvas import CanvasError
from instructor.course.failure import RunError
from instructor.course.hand_ins import HandInError
from instructor.course.options import STORE, parse
from instructor.course.run import Run
from instructor.course.store import Store, only_run

FAILURES = (
    *(SubmissionError, InspectionError, HandInError),
    *(ReferencesError, RunError, CanvasError, OSError),
)


def command(arguments: Sequence[str] | None) -> int:
    """Grade what the command line names; return the exit status."""
    print_any_letter()
    try:
        options = parse(arguments)
        with only_run(options.out), Store(options.out / STORE) as store:
            run = Run(options, store)
            return run.everybody() if options.only is None else run.appeal(options.only)
    except FAILURES as error:
        print(f"class: {printable(str(error))}", file=sys.stderr)
        return 2
