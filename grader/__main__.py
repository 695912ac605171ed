"""The door: `python -m grader SUBMISSION` (`make check`, `make grade`).

Exit status: 0 when the submission was graded, whatever its score; 2 when there is nothing to grade,
or an option is invalid; 3 when something could not be graded; 130 when a person has stopped it.
"""

import dataclasses
import json
import sys
from collections.abc import Sequence

from grader.files import write_whole
from grader.grading import Grading
from grader.intake.submission import SubmissionError
from grader.reports.terminal import Report
from grader.sandbox.interface import printable
from grader.settings import OPTIONS, Settings, check_writable, parse, recorded_for


def main(arguments: Sequence[str] | None = None) -> int:
    """Grade what the command line names."""
    try:
        options = parse(arguments)
        if options.json:
            check_writable(options.json)
        options.references = options.references or recorded_for(options.checkpoint)
        chosen = {field.name: getattr(options, field.name) for field in OPTIONS}
        grading = Grading(dataclasses.replace(Settings(), **chosen))
        made = grading.grade(options.submission, options.check, options.only, Report())
        if options.json:
            write_whole(options.json, json.dumps(made.as_json(), indent=2) + "\n")
    except (SubmissionError, OSError) as error:
        print(f"grade: {printable(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ngrade: stopped; nothing is written", file=sys.stderr)
        return 130
    return 0 if all(result.score is not None for result in made.results) else 3


if __name__ == "__main__":
    sys.exit(main())
