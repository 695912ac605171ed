"""What a submission finds around it: the same in every tier. Runs in the worker.

Covered: the packages that it can import, its command line, the environment's variables, warning
filters and the working folder's name. Not covered: what only an isolating tier prevents, such as
writing files, and the values of variables that name a folder of the tier's own.
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

OWN = {"tensormark", "harness"}  # packages and modules of the worker itself
VARIABLES = frozenset(
    "PATH LANG USER HOME TMPDIR TEMP TMP OMP_NUM_THREADS OMP_WAIT_POLICY OPENBLAS_NUM_THREADS "
    "TORCHINDUCTOR_CACHE_DIR MPLCONFIGDIR MPLBACKEND SYSTEMROOT".split()
)
BUILD = "_sysconfigdata_"  # a module of Python's own whose name differs between builds
UNSEEN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


@functools.cache
def show_only(packages: frozenset[str]) -> None:
    """Have Python find its own modules and these packages only, or all if they are not known.

    Others may be installed, and are not where submissions are contained.
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
            """Find what is shown, and what is inside of it."""
            if path is None and fullname in OWN:
                return None
            if path is None and packages and not (fullname in shown or fullname.startswith(BUILD)):
                return None
            return PathFinder.find_spec(fullname, path, target)

    sys.meta_path[:] = [Shown if finder is PathFinder else finder for finder in sys.meta_path]


def hide_grader() -> None:
    """Take this process's own modules out of a submission's reach, as on a student's machine.

    What has been imported goes on working. Not covered: a submission that looks for them in frames
    or among all objects; nothing in this process is secret.
    """
    with contextlib.suppress(ValueError):
        # the entry that main.py put first; Python's own of the same folder, if any, stays
        sys.path.remove(str(Path(__file__).resolve().parents[2]))
    for name in [*sys.modules]:
        if name.partition(".")[0] in OWN:
            del sys.modules[name]
    sys.modules["__main__"] = ModuleType("__main__")


def settle() -> None:
    """Put the command line, the environment and the warning filters to what they always are.

    The filters are those that Python starts with; torch, where it was used more, adds its own.
    """
    sys.argv[:] = sys.orig_argv[:] = [""]
    for name in os.environ.keys() - VARIABLES:
        del os.environ[name]
    warnings.resetwarnings()
    for category in UNSEEN:
        warnings.simplefilter("ignore", category, append=True)
    # it would say in each process that it cannot keep its list of fonts
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
