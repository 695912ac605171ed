"""Write a result in another format: `python -m grader.reports FORMAT result.json`."""

import argparse
import functools
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from grader.files import write_whole
from grader.reports import github, html, platforms
from grader.reports.model import Model, ModelError, read_model

FORMATS: Mapping[str, Callable[[Model], str]] = {
    "html": html.page,
    "gradescope": platforms.gradescope,
    "prairielearn": platforms.prairielearn,
    "junit": platforms.junit,
    "csv": platforms.csv_rows,
    "canvas": platforms.canvas,
    "summary": github.summary,
    "annotations": github.annotations,
}


def main(arguments: list[str] | None = None) -> int:
    """Write what the command line asks for; return 2 if the file is not a result."""
    parser = argparse.ArgumentParser(prog="python -m grader.reports", description=__doc__)
    parser.add_argument("format", choices=FORMATS, help="what to write")
    parser.add_argument("result", type=Path, help="what JSON= has written")
    parser.add_argument("--out", type=Path, metavar="FILE", help="default: print it")
    where = "annotations: the submission's folder in the repository (default: %(default)s)"
    parser.add_argument("--folder", default="starter", help=where)
    options = parser.parse_args(arguments)
    write = FORMATS[options.format]
    if write is github.annotations:
        write = functools.partial(github.annotations, folder=options.folder)
    try:
        made = write(read_model(options.result))
        if options.out:
            write_whole(options.out, made)
        else:
            sys.stdout.buffer.write(made.encode("utf-8", "backslashreplace"))
    except (KeyError, TypeError, ValueError, AttributeError):
        print(f"reports: {options.result}: is not a result", file=sys.stderr)
        return 2
    except (ModelError, OSError) as error:
        print(f"reports: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
