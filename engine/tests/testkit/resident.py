"""Runs commands in this process, whose pool of workers that have imported torch they share.

Starting Python and importing torch twice takes seconds, and most tests are about what a command
says. A test of the start itself runs `graded.tensormark(...)`.
"""

import contextlib
import importlib
import io
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

from tensormark import cli
from tensormark.folder import DEFINITION, PACKAGE


def forget_assignment():
    """Remove the imported assignment's modules from sys.modules; return them."""
    names = [name for name in list(sys.modules) if name.partition(".")[0] == PACKAGE]
    return {name: sys.modules.pop(name) for name in names}


@contextlib.contextmanager
def no_assignment_yet():
    """Have an assignment imported afresh, from its current place and in its current state."""
    path = [entry for entry in sys.path if not Path(entry, DEFINITION).is_file()]
    before = forget_assignment()
    importlib.invalidate_caches()
    try:
        with mock.patch.object(sys, "path", path):
            yield
    finally:
        forget_assignment()
        sys.modules.update(before)


def called(folder, *words):
    """Run one of tensormark's commands in a folder, as `python -m tensormark` would."""
    encoding = os.environ.get("PYTHONIOENCODING", "utf-8")
    out, errors = (io.TextIOWrapper(io.BytesIO(), encoding, write_through=True) for _ in range(2))
    with (
        contextlib.chdir(folder),
        mock.patch.dict(os.environ),
        no_assignment_yet(),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors),
    ):
        try:
            status = cli.main(words)
        except SystemExit as ended:  # of argparse
            status = int(ended.code or 0)
    texts = (stream.buffer.getvalue().decode() for stream in (out, errors))
    return subprocess.CompletedProcess(words, status, *texts)
