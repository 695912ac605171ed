"""Grade a class: `python -m instructor.course SUBMISSIONS` (`make class`).

Exit status: 0 if everything was graded, whatever its score; 2 if there is nothing to grade, an
option is invalid, or the run cannot go on; 3 if something could not be graded; 130 if the run was
interrupted. After 2, 3 and 130 the same command goes on where it stopped.
"""

import io
import sys
from collections.abc import Sequence

from grader.intake.submission import SubmissionError
from grader.references import ReferencesError
from grader.sandbox.interface import printable
from instructor.course.canvas import CanvasError
from instructor.course.failure import RunError
from instructor.course.hand_ins import HandInError
from instructor.course.options import parse
from instructor.course.run import STORE, Run
from instructor.course.store import Store, only_run

FAILURES = (SubmissionError, HandInError, ReferencesError, RunError, CanvasError, OSError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Grade what the command line names; return the exit status."""
    for stream in (sys.stdout, sys.stderr):  # no letter in a name can make printing fail
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        options = parse(arguments)
        with only_run(options.out), Store(options.out / STORE) as store:
            run = Run(options, store)
            return run.everybody() if options.only is None else run.appeal(options.only)
    except FAILURES as error:
        print(f"class: {printable(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nclass: interrupted; what is graded is kept", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
