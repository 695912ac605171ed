"""Print a result in another format: `tensormark convert FORMAT result.json`."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import jinja2

from tensormark.files import encoded
from tensormark.reports import html, platforms
from tensormark.reports.model import Model, read_model
from tensormark.usage import UserError, parser

FORMATS: Mapping[str, Callable[[Model], str]] = {
    "html": html.page,
    "gradescope": platforms.gradescope,
    "summary": platforms.summary,
    "annotations": platforms.annotations,
}


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Print what the command line asks for; return the exit status."""
    command_line = parser(name, __doc__)
    command_line.add_argument("format", choices=FORMATS, help="what to print")
    command_line.add_argument("result", type=Path, help="a result.json written by a grading")
    options = command_line.parse_args(arguments)
    result = read_model(options.result)
    try:
        text = FORMATS[options.format](result)
    except (KeyError, TypeError, ValueError, AttributeError, jinja2.TemplateError):
        raise UserError(f"{options.result} is not a result of a grading") from None
    sys.stdout.buffer.write(encoded(text))
    return 0
