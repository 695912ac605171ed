"""Grade a class: `python -m instructor.course SUBMISSIONS` (`make class`).

Exit status: 0 if everything was graded, whatever its score; 2 if there is nothing to grade, an
option is invalid, or the run cannot go on; 3 if something could not be graded; 130 if the run was
interrupted. After 2, 3 and 130 the same command goes on where it stopped, or with `--force` begins
again.
"""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Grade what the command line names; return the exit status."""
    try:
        # here, because Ctrl-C may be pressed in the second that it takes
        from instructor.course.command import command

        return command(arguments)
    except KeyboardInterrupt:
        print("\nclass: interrupted; what is graded is kept", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
