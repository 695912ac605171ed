"""Give a submission the same surroundings in every tier. Runs in the worker.

Covered: the packages that it can import, its command line, environment variables, warning filters,
its working folder, which is also the one for temporary files, and debuggers, which end at once;
and, as far as Python says what it does, that no file is written elsewhere, no program started and
no socket opened. Not covered: what only an isolating tier prevents, such as files that compiled
code writes, and the path of that folder.
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

from tensormark.worker import scratch

FOLDER_VARIABLES = ("HOME", "TMPDIR", "TEMP", "TMP", "TORCHINDUCTOR_CACHE_DIR", "MPLCONFIGDIR")
HIDDEN = {"tensormark", "harness"}  # packages and modules of the worker itself
VARIABLES = frozenset(FOLDER_VARIABLES).union(
    "PATH LANG USER OMP_NUM_THREADS OMP_WAIT_POLICY OPENBLAS_NUM_THREADS MPLBACKEND SYSTEMROOT "
    "CUDA_VISIBLE_DEVICES".split()
)
BUILD = "_sysconfigdata_"  # the prefix of a standard module whose name differs between builds
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
REFUSED = frozenset(
    "os.chmod os.fork os.link os.posix_spawn os.symlink os.truncate os.utime socket.__new__ "
    "socket.getaddrinfo subprocess.Popen".split()
)
# refused outside of the submission's folder, like opening a file to write
IN_FOLDER = frozenset("os.chdir os.mkdir os.remove os.rename os.rmdir".split())
STANDS_IN = "starter"  # in that folder, so that there is one above, as in a student's copy
SILENCED = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


@functools.cache
def show_only(packages: frozenset[str]) -> None:
    """Let Python find only its standard library and these packages; if there are none, everything.

    Other packages may be installed here, but not in a container. What the worker has imported of
    them stays valid for itself.
    """
    shown = packages | sys.stdlib_module_names | {"__main__", "__mp_main__"}
    for name in list(sys.modules) if packages else ():
        root = name.partition(".")[0]
        if root not in shown and not root.startswith(BUILD):
            del sys.modules[name]

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
        # the entry that fork_server.py put first; an installation's entry for the same folder stays
        sys.path.remove(str(Path(__file__).resolve().parents[2]))
    for name in list(sys.modules):
        if name.partition(".")[0] in HIDDEN:
            del sys.modules[name]
    sys.modules["__main__"] = ModuleType("__main__")


def _path_of(descriptor: int) -> str:
    """Return the path of an open folder; -1 stands for the working folder."""
    if descriptor == -1:
        return ""
    if sys.platform == "darwin":
        import fcntl  # missing on Windows

        return os.fsdecode(fcntl.fcntl(descriptor, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0"))
    return os.readlink(f"/proc/self/fd/{descriptor}")


def _places(event: str, arguments: tuple[Any, ...]) -> list[str]:
    """Return the paths that something is done to, with their links resolved."""
    if isinstance(arguments[0], int):
        return [_path_of(arguments[0])]
    count = 2 if event == "os.rename" else 1
    above = (-1,) if event in ("open", "os.chdir") else arguments[-count:]
    return [
        os.path.realpath(os.path.join(_path_of(descriptor), os.fsdecode(path)))
        for path, descriptor in zip(arguments, above, strict=False)
    ]


def _refuse(folder: str, event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse what no tier allows (an audit hook); the message names the call and its object.

    Raises:
        PermissionError: as from the kernel, in an isolating tier.
    """
    opens = event == "open" and not isinstance(arguments[0], int) and arguments[2] & WRITING
    if opens or event in IN_FOLDER:
        places = [place for place in _places(event, arguments) if place != os.devnull]
        if all(f"{place}/".startswith(f"{folder}/") for place in places):
            return
    elif event not in REFUSED:
        return
    what = "opening a file to write" if opens else event
    named = arguments and isinstance(arguments[0], str | bytes | os.PathLike)
    path = arguments[0] if named else None
    if event == "subprocess.Popen":
        path = os.path.basename(arguments[0])
    raise PermissionError(errno.EPERM, f"{what} is not allowed here", path)


_folder = ""


def stay_in(folder: str) -> None:
    """Let a submission write in this folder only, and start no programs, from now on."""
    global _folder
    _folder = os.path.realpath(folder)
    sys.addaudithook(functools.partial(_refuse, _folder))
    begin()


def begin() -> None:
    """Empty the submission's folder, and stand in it."""
    os.chdir(_folder)
    with contextlib.suppress(OSError):
        scratch.empty(_folder)
    here = os.path.join(_folder, STANDS_IN)
    os.makedirs(here, exist_ok=True)
    os.chdir(here)
    os.environ.update(dict.fromkeys(FOLDER_VARIABLES, here))


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
