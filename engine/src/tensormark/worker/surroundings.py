"""Give a submission the same surroundings in every tier. Runs in the worker.

Covered: the packages that it can import, its command line, environment variables, warning filters,
the names of its working folder and of the one for temporary files, and debuggers, which end at
once; and, as far as Python says what it does, that no file is written, no program started and no
socket opened. Not covered: what only an isolating tier prevents, such as files that compiled code
writes, and the values of variables that name one of the tier's folders.
"""

import bdb
import contextlib
import errno
import functools
import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

HIDDEN = {"tensormark", "harness"}  # packages and modules of the worker itself
VARIABLES = frozenset(
    "PATH LANG USER HOME TMPDIR TEMP TMP OMP_NUM_THREADS OMP_WAIT_POLICY OPENBLAS_NUM_THREADS "
    "TORCHINDUCTOR_CACHE_DIR MPLCONFIGDIR MPLBACKEND SYSTEMROOT CUDA_VISIBLE_DEVICES".split()
)
BUILD = "_sysconfigdata_"  # the prefix of a standard module whose name differs between builds
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
REFUSED = frozenset(
    "os.chdir os.chmod os.fork os.link os.mkdir os.posix_spawn os.remove os.rename os.rmdir "
    "os.symlink os.truncate os.utime socket.__new__ socket.getaddrinfo subprocess.Popen".split()
)
SILENCED = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


@functools.cache
def show_only(packages: frozenset[str]) -> None:
    """Let Python find only its standard library and these packages; if there are none, everything.

    Other packages may be installed here, but not in a container.
    """
    shown = packages | sys.stdlib_module_names

    class Shown(PathFinder):
        @classmethod
        def find_spec(
            cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
        ) -> ModuleSpec | None:
            """Find allowed modules, and anything inside a package."""
            if path is None and fullname in HIDDEN:
                return None
            if path is None and packages and not (fullname in shown or fullname.startswith(BUILD)):
                return None
            return PathFinder.find_spec(fullname, path, target)

    sys.meta_path[:] = [Shown if finder is PathFinder else finder for finder in sys.meta_path]


def hide_grader() -> None:
    """Make the grader's modules impossible to import, as on a student's machine.

    References to them stay valid. Not covered: a submission that searches frames or all objects for
    them; nothing in this process is secret.
    """
    with contextlib.suppress(ValueError):
        # the entry that main.py put first; an installation's entry for the same folder stays
        sys.path.remove(str(Path(__file__).resolve().parents[2]))
    for name in [*sys.modules]:
        if name.partition(".")[0] in HIDDEN:
            del sys.modules[name]
    sys.modules["__main__"] = ModuleType("__main__")


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse what the filter of the isolating tiers does not allow (an audit hook).

    Raises:
        PermissionError: as there.
    """
    opens = event == "open" and not isinstance(arguments[0], int)
    if event in REFUSED or (opens and arguments[2] & WRITING):
        path = (
            arguments[0] if arguments and not event.startswith(("socket", "subprocess")) else None
        )
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), path)


def refuse_writing() -> None:
    """Refuse a submission to write files or start programs, from now on."""
    sys.addaudithook(_refuse)


def _no_debugger(*_: object, **__: object) -> NoReturn:
    """End a debugger as the end of its input would, but without its output.

    Raises:
        BdbQuit: always.
    """
    raise bdb.BdbQuit


def reset() -> None:
    """Make the command line, the environment, the warning filters and so on the same everywhere.

    The filters are Python's initial ones; torch adds others, and more with use.
    """
    sys.argv[:] = sys.orig_argv[:] = [""]
    for name in os.environ.keys() - VARIABLES:
        del os.environ[name]
    warnings.resetwarnings()
    tempfile.tempdir = os.environ.get("TMPDIR")  # otherwise chosen by trying to write there
    bdb.Bdb.set_trace = _no_debugger  # type: ignore[method-assign]
    for category in SILENCED:
        warnings.simplefilter("ignore", category, append=True)
    # otherwise every process would log that the list of fonts cannot be saved
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
