"""The container of one fork server, as a bubblewrap command line. Trusted side.

Covered: the fork server and its children see Python, the packages of requirements.txt, the system's
libraries, the folder worker/, the assignment's harness and the checkpoint, all read-only; no other
file, process, host name or network. The server also sees what only worker/ needs, which its
children cannot read. If root starts it, it also gets a separate user id, which owns nothing on the
machine.
Not covered: memory and processor time (lockdown.py limits them), and kernel vulnerabilities. If an
ordinary user starts it, the container's user is that user outside of it.
"""

import dataclasses
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tensormark.sandbox import packages
from tensormark.sandbox.interface import WorkerStartError

WORKER = Path(__file__).resolve().parents[1] / "worker"
INSIDE = Path("/grading")  # where the worker's files are in the container
WORKER_INSIDE = INSIDE / "tensormark" / "worker"
HARNESS_INSIDE = INSIDE / "harness.py"
LIBRARIES = ("/lib", "/lib64", "/lib32", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
USER = "1000"  # inside, with a user namespace
SCRATCH = 64 << 20  # bytes of /tmp, which torch needs while it is imported


@dataclasses.dataclass(frozen=True)
class ServerKey:
    """What an isolated server is started with.

    Attributes:
        contained: whether it has its own container.
        harness: the assignment's file that runs next to a student's code.
        requirements: the file that lists the packages that children may import.
        checkpoint: the only folder that children may read besides Python, if there is one.
        rules: what the assignment forbids, with where it is listed; see Program.
    """

    contained: bool
    harness: Path
    requirements: Path
    checkpoint: Path | None = None
    rules: tuple[tuple[str, str], ...] = ()


def _python_files() -> list[str]:
    """Return the files that Python needs besides its libraries."""
    program = Path(sys.executable)
    paths = [program]
    while program.is_symlink():
        program = program.parent / program.readlink()
        paths.append(program)
    if sys.prefix != sys.base_prefix:
        paths.append(Path(sys.prefix, "pyvenv.cfg"))
    return [str(path) for path in paths if path.exists()]


def _libraries() -> list[str]:
    """Return the folders of libraries: the system's and this Python's."""
    own = str(Path(sys.base_prefix, "lib"))
    return [path for path in dict.fromkeys((own, *LIBRARIES)) if os.path.exists(path)]


def _package_folders() -> list[Path]:
    """Return the folders of packages below the libraries; see packages.py."""
    return packages.hidden([Path(path) for path in _libraries()])


def _checkpoints(key: ServerKey) -> list[str]:
    """Return the folder of the checkpoint, if there is one."""
    return [str(key.checkpoint)] if key.checkpoint else []


def readable(key: ServerKey) -> list[str]:
    """Return the paths that a submission may read: of packages, only those that it may use."""
    hidden = _package_folders()
    roots = _library_roots(key.contained)
    paths = [str(path) for root in roots for path in packages.around(root, hidden)]
    allowed = packages.packages(key.requirements)
    return [*paths, *_python_files(), *allowed, *_checkpoints(key)]


def _library_roots(contained: bool) -> list[Path]:
    """Return the folders of libraries: with their links resolved, or as they are in a container."""
    paths = map(Path, _libraries())
    return list(dict.fromkeys(path if contained else path.resolve() for path in paths))


def listable(contained: bool) -> list[str]:
    """Return the folders that a submission may list, because Python looks for modules there."""
    hidden = _package_folders()
    roots = _library_roots(contained)
    return [str(root) for root in roots if any(folder.is_relative_to(root) for folder in hidden)]


def _parents(paths: Iterable[str]) -> list[str]:
    """Return the folders above these paths, outermost first."""
    folders = {str(parent) for path in paths for parent in Path(path).parents}
    return sorted(folders - {"/", "/tmp"}, key=lambda path: path.count("/"))


def _mkdir_options(paths: Iterable[str]) -> list[str]:
    """Return the options that make folders that everybody can enter; the default mode is 0700."""
    return [word for path in paths for word in ("--perms", "0755", "--dir", path)]


def _bind_options(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return the options that mount files and folders, each as (path outside, path inside)."""
    return [word for source, target in pairs for word in ("--ro-bind", source, target)]


def mounts(key: ServerKey) -> list[str]:
    """Return the options that mount files in the container."""
    links = [path for path in LIBRARIES if os.path.islink(path)]  # /lib -> usr/lib
    everything = (*_libraries(), *_python_files(), *_checkpoints(key))
    shown = [path for path in everything if path not in links]
    pairs = [(path, path) for path in shown]
    pairs += [(str(WORKER), str(WORKER_INSIDE)), (str(key.harness), str(HARNESS_INSIDE))]
    options = ["--perms", "1777", "--size", str(SCRATCH), "--tmpfs", "/tmp", "--proc", "/proc"]
    folders = _parents([*(target for _, target in pairs), *links, *DEVICES])
    options += _mkdir_options(path for path in folders if path not in links)
    for path in links:
        options += ["--symlink", os.readlink(path), path]
    options += _bind_options(pairs)
    allowed = packages.packages(key.requirements, packages.WORKER)
    for folder in _package_folders():
        options += ["--tmpfs", str(folder)]  # hides all packages; allowed ones are mounted over it
    options += _mkdir_options(_parents(allowed)) + _bind_options((path, path) for path in allowed)
    for folder in _package_folders():
        options += ["--remount-ro", str(folder)]
    for device in DEVICES:
        options += ["--dev-bind", device, device]
    return [*options, "--remount-ro", "/"]


def command(key: ServerKey, inner: Sequence[str]) -> list[str]:
    """Return the command that runs `inner` in a container.

    Raises:
        WorkerStartError: bubblewrap is not installed.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise WorkerStartError("bubblewrap is missing: apt-get install bubblewrap")
    options = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    options += [
        "--hostname",
        "container",
        "--unshare-cgroup-try",
        "--die-with-parent",
        "--new-session",
        "--chdir",
        "/",
    ]
    if os.getuid() == 0:  # the fork server needs these two to switch users, which drops them
        options += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        options += ["--unshare-user", "--uid", USER, "--gid", USER]
    return [program, *options, *mounts(key), "--", *inner]
