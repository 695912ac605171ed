"""The surroundings of a submission, which are the same in every tier. Runs in the worker.

Covered: the packages that it can import, its command line, environment variables, warning filters
and the working folder's name. Not covered: what only an isolating tier prevents, such as writing
files, and the values of variables that name a folder of the tier's own.
"""

import contextlib
import functools
import logging
import os
import sys
import warnings
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

HIDDEN = {"tensormark", "harness"}  # packages and modules of the worker itself
VARIABLES = frozenset(
    "PATH LANG USER HOME TMPDIR TEMP TMP OMP_NUM_THREADS OMP_WAIT_POLICY OPENBLAS_NUM_THREADS "
    "TORCHINDUCTOR_CACHE_DIR MPLCONFIGDIR MPLBACKEND SYSTEMROOT".split()
)
BUILD = "_sysconfigdata_"  # a module of Python's own whose name differs between builds
SILENCED = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


@functools.cache
def show_only(packages: frozenset[str]) -> None:
    """Have Python find only its own modules and these packages, or all if there are none of these.

    Other packages may be installed here, but not in a container.
    """
    shown = packages | sys.stdlib_module_names

    class Shown(PathFinder):
        @classmethod
        def find_spec(
            cls,
            fullname: str,
            path: Sequence[str] | None = None,
            target: ModuleType | None = None,
        ) -> ModuleSpec | None:
            """Find what is shown, and whatever lies inside a package."""
            if path is None and fullname in HIDDEN:
                return None
            if path is None and packages and not (fullname in shown or fullname.startswith(BUILD)):
                return None
            return PathFinder.find_spec(fullname, path, target)

    sys.meta_path[:] = [Shown if finder is PathFinder else finder for finder in sys.meta_path]


def hide_grader() -> None:
    """Take this process's own modules out of a submission's reach, as on a student's machine.

    References to them stay valid. Not covered: a submission that looks for them in frames or among
    all objects; nothing in this process is secret.
    """
    with contextlib.suppress(ValueError):
        # the entry that main.py put first; an installation's entry for the same folder stays
        sys.path.remove(str(Path(__file__).resolve().parents[2]))
    for name in [*sys.modules]:
        if name.partition(".")[0] in HIDDEN:
            del sys.modules[name]
    sys.modules["__main__"] = ModuleType("__main__")


def reset() -> None:
    """Make the command line, the environment and the warning filters the same in every worker.

    The filters are those that Python starts with; torch adds others, and more the more it is used.
    """
    sys.argv[:] = sys.orig_argv[:] = [""]
    for name in os.environ.keys() - VARIABLES:
        del os.environ[name]
    warnings.resetwarnings()
    for category in SILENCED:
        warnings.simplefilter("ignore", category, append=True)
    # otherwise every process would log that the list of fonts cannot be saved
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
