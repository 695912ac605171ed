"""Write a result in another format: `tensormark convert FORMAT result.json`.

The format `check` is one line, "check: passed" or what is missing; if something is missing, the
exit status is 1, so that a CI job fails.
"""

import functools
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tensormark.files import check_replaceable, encoded, write_whole
from tensormark.reports import github, html, platforms
from tensormark.reports.model import Model, read_model
from tensormark.usage import UserError, parser

FORMATS: Mapping[str, Callable[[Model], str]] = {
    "html": html.page,
    "gradescope": platforms.gradescope,
    "summary": github.summary,
    "annotations": github.annotations,
}
CHECK = "check"
# how what is written begins, so that only an earlier one is replaced
MARKS: Mapping[str, re.Pattern[bytes]] = {
    "html": re.compile(rb"default-src 'none'; style-src 'sha256-"),
    "gradescope": re.compile(rb'\A\{\n  "score": '),
    "summary": re.compile(rb"\A## [^\n]+&#58; "),
    "annotations": re.compile(rb"\A(::(error|warning|notice) file=|\Z)"),
    CHECK: re.compile(rb"\A([\d.]+ / [\d.]+ points|\Z)"),
}


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Write what the command line asks for; return 2 if the file is not a result."""
    command_line = parser(name, __doc__)
    command_line.add_argument("format", choices=[*FORMATS, CHECK], help="what to write")
    command_line.add_argument("result", type=Path, help="a result.json written by a grading")
    command_line.add_argument("--out", type=Path, metavar="FILE", help="default: print it")
    where = "annotations: the submission's folder in the repository (default: %(default)s)"
    command_line.add_argument("--folder", default="starter", help=where)
    enough = "check: the points needed (default: all exercises except bonus must be passed)"
    command_line.add_argument("--needed", type=float, metavar="POINTS", help=enough)
    options = command_line.parse_args(arguments)
    check = functools.partial(github.shortfall, needed=options.needed)
    write = FORMATS.get(options.format, check)
    if write is github.annotations:
        write = functools.partial(github.annotations, folder=options.folder)
    try:
        text = write(read_model(options.result))
        if options.out:
            check_replaceable(options.out, MARKS[options.format], f"--out {options.out}")
            write_whole(options.out, text)
        elif options.format == CHECK:
            print(f"check: {text or 'passed'}")
        else:
            sys.stdout.buffer.write(encoded(text))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise UserError(f"{options.result} is not a result of a grading") from None
    return int(bool(text)) if options.format == CHECK else 0
