"""The container of one grading slot, as a bubblewrap command line. Trusted side.

Covered: the zygote and its children see Python, the system's libraries, the folder worker/, the
assignment's harness and the checkpoint, all read-only; no other file, process, host name or
network. If started by root, it also gets its own user id, which owns nothing on the machine.
Not covered: memory and processor time (lockdown.py limits them), and kernel vulnerabilities. If
started by an ordinary user, the container's user is still that user outside of it.
"""

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from grader.sandbox.interface import WorkerStartError

WORKER = Path(__file__).resolve().parents[1] / "worker"
INSIDE = Path("/grading")  # where the worker's files are in the container
WORKER_INSIDE, HARNESS_INSIDE = INSIDE / "grader" / "worker", INSIDE / "harness.py"
LIBRARIES = ("/lib", "/lib64", "/lib32", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
USER = "1000"  # inside, with a user namespace
SCRATCH = 64 << 20  # bytes of /tmp, which torch needs while it is imported


def python_paths() -> list[str]:
    """Return the folders and files of this Python installation."""
    base, own = Path(sys.base_prefix), Path(sys.prefix)
    program = Path(sys.executable)
    paths = [base / "lib", program]
    while program.is_symlink():
        program = program.parent / program.readlink()
        paths.append(program)
    if own != base:
        paths += [own / "pyvenv.cfg", own / "lib"]
    return [str(path) for path in paths if path.exists()]


def readable(checkpoint: Path) -> list[str]:
    """Return the paths that a submission may read."""
    return [path for path in (*python_paths(), *LIBRARIES, str(checkpoint)) if os.path.exists(path)]


def parents(paths: Iterable[str]) -> list[str]:
    """Return the folders above these paths, outermost first."""
    found = {str(parent) for path in paths for parent in Path(path).parents}
    return sorted(found - {"/", "/tmp"}, key=lambda path: path.count("/"))


def mounts(checkpoint: Path, harness: Path) -> list[str]:
    """Return the options that mount files in the container."""
    pairs = [(path, path) for path in readable(checkpoint)]
    pairs += [(str(WORKER), str(WORKER_INSIDE)), (str(harness), str(HARNESS_INSIDE))]
    options = ["--perms", "1777", "--size", str(SCRATCH), "--tmpfs", "/tmp", "--proc", "/proc"]
    links = [path for path in LIBRARIES if os.path.islink(path)]  # /lib -> usr/lib
    for folder in parents([*(target for _, target in pairs), *DEVICES]):
        if folder not in links:
            options += ["--perms", "0755", "--dir", folder]  # bubblewrap's default is 0700
    for source, target in pairs:
        if source in links:
            options += ["--symlink", os.readlink(source), target]
        else:
            options += ["--ro-bind", source, target]
    for device in DEVICES:
        options += ["--dev-bind", device, device]
    return [*options, "--remount-ro", "/"]


def command(checkpoint: Path, harness: Path, inner: Sequence[str]) -> list[str]:
    """Return the command that runs `inner` in a container.

    Raises:
        WorkerStartError: bubblewrap is not installed.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise WorkerStartError("bubblewrap is missing: apt-get install bubblewrap")
    options = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    options += ["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--chdir", "/"]
    if os.getuid() == 0:  # the zygote needs these two to switch users, which drops them
        options += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        options += ["--unshare-user", "--uid", USER, "--gid", USER]
    return [program, *options, *mounts(checkpoint, harness), "--", *inner]
