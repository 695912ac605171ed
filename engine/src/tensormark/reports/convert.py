"""Write a result in another format: `tensormark convert FORMAT result.json`."""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import jinja2

from tensormark.files import PAGE, check_replaceable, encoded, write_whole
from tensormark.reports import html, platforms
from tensormark.reports.model import Model, read_model
from tensormark.usage import UserError, parser

FORMATS: Mapping[str, Callable[[Model], str]] = {
    "html": html.page,
    "gradescope": platforms.gradescope,
    "summary": platforms.summary,
    "annotations": platforms.annotations,
}
# how what is written begins, so that only an earlier one is replaced
MARKS: Mapping[str, re.Pattern[bytes]] = {
    "html": PAGE,
    "gradescope": re.compile(rb'\A\{\n  "(score|execution_time)": '),
    "summary": re.compile(rb"\A## [^\n]+&#58; "),
    "annotations": re.compile(rb"\A(::error file=|\Z)"),
}


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Write what the command line asks for; return the exit status."""
    command_line = parser(name, __doc__)
    command_line.add_argument("format", choices=FORMATS, help="what to write")
    command_line.add_argument("result", type=Path, help="a result.json written by a grading")
    command_line.add_argument(
        "--out", type=Path, metavar="FILE", help="file to write (default: print it)"
    )
    options = command_line.parse_args(arguments)
    result = read_model(options.result)
    try:
        text = FORMATS[options.format](result)
    except (KeyError, TypeError, ValueError, AttributeError, jinja2.TemplateError):
        raise UserError(f"{options.result} is not a result of a grading") from None
    if options.out:
        check_replaceable(options.out, MARKS[options.format], f"--out {options.out}")
        write_whole(options.out, text)
    else:
        sys.stdout.buffer.write(encoded(text))
    return 0
