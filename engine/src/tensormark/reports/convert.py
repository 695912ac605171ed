"""Write a result in another format: `tensormark convert FORMAT result.json`.

The format `check` is one line, "check: passed" or what is missing; if something is missing, the
exit status is 1, so that a CI job fails.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import jinja2

from tensormark.files import PAGE, check_replaceable, encoded, write_whole
from tensormark.reports import github, html, platforms
from tensormark.reports.model import Model, read_model
from tensormark.usage import UserError, parser

FORMATS: Mapping[str, Callable[[Model], str]] = {
    "html": html.page,
    "gradescope": platforms.gradescope,
    "summary": github.summary,
}
CHECK = "check"
# how what is written begins, so that only an earlier one is replaced
MARKS: Mapping[str, re.Pattern[bytes]] = {
    "html": PAGE,
    "gradescope": re.compile(rb'\A\{\n  "score": '),
    "summary": re.compile(rb"\A## [^\n]+&#58; "),
    CHECK: re.compile(rb"\Acheck: "),
}


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Write what the command line asks for; return 2 if the file is not a result."""
    command_line = parser(name, __doc__)
    command_line.add_argument("format", choices=[*FORMATS, CHECK], help="what to write")
    command_line.add_argument("result", type=Path, help="a result.json written by a grading")
    command_line.add_argument("--out", type=Path, metavar="FILE", help="default: print it")
    enough = "check: the points needed (default: all exercises except bonus must be passed)"
    command_line.add_argument("--needed", type=float, metavar="POINTS", help=enough)
    options = command_line.parse_args(arguments)
    result = read_model(options.result)
    missing = ""
    try:
        if options.format == CHECK:
            missing = github.shortfall(result, options.needed)
            text = f"check: {missing or 'passed'}\n"
        else:
            text = FORMATS[options.format](result)
    except (KeyError, TypeError, ValueError, AttributeError, jinja2.TemplateError):
        raise UserError(f"{options.result} is not a result of a grading") from None
    if options.out:
        check_replaceable(options.out, MARKS[options.format], f"--out {options.out}")
        write_whole(options.out, text)
    else:
        sys.stdout.buffer.write(encoded(text))
    return int(bool(missing))
