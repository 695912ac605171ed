"""Where a worker runs: without a container, and what a container changes. Trusted side.

Covered: which files a submission may read, as its lockdown allows: Python, the packages of
requirements.txt, the assignment's harness and the checkpoint.
"""

import dataclasses
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tensormark.sandbox import packages

WORKER = Path(__file__).resolve().parents[1] / "worker"
LIBRARIES = ("/lib", "/lib64", "/lib32", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")


@dataclasses.dataclass(frozen=True)
class ServerKey:
    """What the worker of an isolating tier is started with.

    Attributes:
        harness: the assignment's file that runs next to a student's code.
        requirements: the file that lists the packages that children may import.
        checkpoint: the only folder that children may read besides Python, if there is one.
        rules: what the assignment forbids, with where it is listed; see Program.
    """

    harness: Path
    requirements: Path
    checkpoint: Path | None
    rules: tuple[tuple[str, str], ...]


def python_files() -> list[str]:
    """Return the files that Python needs besides its libraries."""
    program = Path(sys.executable)
    paths = [program]
    while program.is_symlink():
        program = program.parent / program.readlink()
        paths.append(program)
    if sys.prefix != sys.base_prefix:
        paths.append(Path(sys.prefix, "pyvenv.cfg"))
    return [str(path) for path in paths if path.exists()]


def libraries() -> list[str]:
    """Return the folders of libraries: the system's and this Python's, also behind links.

    A shared libpython is found where Python was installed, whatever path it was started by.
    """
    own = os.path.join(sys.base_prefix, "lib")
    paths = dict.fromkeys((own, os.path.realpath(own), *LIBRARIES))
    return [path for path in paths if os.path.exists(path)]


def package_folders() -> list[Path]:
    """Return the folders of packages below the libraries; see packages.py."""
    return packages.hidden([Path(path) for path in libraries()])


def checkpoints(key: ServerKey) -> list[str]:
    """Return the folder of the checkpoint, if there is one."""
    return [str(key.checkpoint)] if key.checkpoint else []


class NoContainer:
    """The machine itself; a container overrides what is different in it.

    server.py starts what `command` returns, in a process group of its own, and kills that group at
    the end; a container outside of it has to end with the command. The command must pass on the
    environment, where HOME is already the folder that a worker may write in, and one open
    descriptor, a socket. Its number follows the path of the program in `inner`: [python, option...,
    program, number]. What the command writes goes to a file, of which `why` gets the last line if
    the worker does not start.

    Attributes:
        worker: the folder of the worker's code, where `inner` finds it.
    """

    worker = WORKER

    def harness(self, outside: Path) -> Path:
        """Return the path of the harness for the worker."""
        return outside

    def scratch(self, folder: str) -> str:
        """Return the folder in which a worker may write, given one that is made for it."""
        return folder

    def command(self, key: ServerKey, inner: Sequence[str]) -> Sequence[str]:
        """Return the command that runs `inner`, a Python program with its arguments.

        Inside, it needs to read what `readable` returns, the worker's code and the harness.

        Raises:
            WorkerStartError: something is not installed.
        """
        return inner

    def why(self, output: str) -> str:
        """Return why the command failed, if its last line of output tells."""
        return ""

    def roots(self) -> list[Path]:
        """Return the folders of libraries with their links resolved."""
        return list(dict.fromkeys(Path(path).resolve() for path in libraries()))

    def readable(self, key: ServerKey) -> list[str]:
        """Return the paths that a submission may read: of packages, only those that it may use."""
        hidden = package_folders()
        paths: list[str] = []
        for root in self.roots():
            paths += map(str, packages.around(root, hidden))
        allowed = packages.packages(key.requirements)
        return [*paths, *python_files(), *allowed, *checkpoints(key)]

    def listable(self) -> list[str]:
        """Return the folders that a submission may list, because Python looks for modules there."""
        hidden = package_folders()
        roots = self.roots()
        return [
            str(root) for root in roots if any(folder.is_relative_to(root) for folder in hidden)
        ]
