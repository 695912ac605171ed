"""The container of one fork server, as a bubblewrap command line. Trusted side.

Covered: the fork server and its children see Python, the packages of requirements.txt, the system's
libraries, the folder worker/, the assignment's harness and the checkpoint, all read-only; no other
file, process, host name or network. The server also sees what only worker/ needs, which its
children cannot read. If root starts it, it also gets a separate user id, which owns nothing on the
machine.
Not covered: memory and processor time (lockdown.py limits them), and kernel vulnerabilities. If an
ordinary user starts it, the container's user is that user outside of it.
"""

import itertools
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tensormark.sandbox import packages
from tensormark.sandbox.container import (
    LIBRARIES,
    NoContainer,
    ServerKey,
    checkpoints,
    libraries,
    package_folders,
    python_files,
)
from tensormark.sandbox.interface import WorkerStartError

INSIDE = Path("/grading")  # where the worker's files are in the container
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
USER = "1000"  # inside, with a user namespace
SCRATCH = 64 << 20  # bytes of /tmp, which torch needs while it is imported


# on Ubuntu from 24.04 on
SYSCTL = "kernel.apparmor_restrict_unprivileged_userns"
RESTRICTED = Path("/proc/sys", *SYSCTL.split("."))


def _parents(paths: Iterable[str]) -> list[str]:
    """Return the folders above these paths, outermost first."""
    parents = itertools.chain.from_iterable(Path(path).parents for path in paths)
    return sorted(set(map(str, parents)) - {"/", "/tmp"}, key=lambda path: path.count("/"))


def _mkdir_options(paths: Iterable[str]) -> Iterator[str]:
    """Yield the options that make folders that everybody can enter; the default mode is 0700."""
    for path in paths:
        yield from ("--perms", "0755", "--dir", path)


def _bind_options(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the options that mount files and folders, each as (path outside, path inside)."""
    for source, target in pairs:
        yield from ("--ro-bind", source, target)


class Bubblewrap(NoContainer):
    """A container that bubblewrap makes."""

    worker = INSIDE / "tensormark" / "worker"

    def harness(self, outside: Path) -> Path:
        """Return the path of the harness in the container."""
        return INSIDE / "harness.py"

    def scratch(self, folder: str) -> str:
        """Return the container's own folder."""
        return "/tmp"

    def mounts(self, key: ServerKey) -> list[str]:
        """Return the options that mount files in the container."""
        links = [path for path in LIBRARIES if os.path.islink(path)]  # /lib -> usr/lib
        everything = (*libraries(), *python_files(), *checkpoints(key))
        shown = [path for path in everything if path not in links]
        pairs = [(path, path) for path in shown]
        pairs.append((str(NoContainer.worker), str(self.worker)))
        pairs.append((str(key.harness), str(self.harness(key.harness))))
        options = ["--perms", "1777", "--size", str(SCRATCH), "--tmpfs", "/tmp", "--proc", "/proc"]
        folders = _parents([*(target for _, target in pairs), *links, *DEVICES])
        options += _mkdir_options(path for path in folders if path not in links)
        for path in links:
            options += ["--symlink", os.readlink(path), path]
        options += _bind_options(pairs)
        allowed = packages.packages(key.requirements, packages.WORKER)
        for folder in package_folders():
            # hides all packages; allowed ones are mounted over it
            options += ["--tmpfs", str(folder)]
        options += _mkdir_options(_parents(allowed))
        options += _bind_options((path, path) for path in allowed)
        for folder in package_folders():
            options += ["--remount-ro", str(folder)]
        for device in DEVICES:
            options += ["--dev-bind", device, device]
        return [*options, "--remount-ro", "/"]

    def command(self, key: ServerKey, inner: Sequence[str]) -> list[str]:
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
        return [program, *options, *self.mounts(key), "--", *inner]

    def why(self, output: str) -> str:
        """Return why bubblewrap cannot make a container, if it says so."""
        if not output.startswith("bwrap:"):
            return ""
        fix = "the tier `locked` does not need one"
        if RESTRICTED.exists() and RESTRICTED.read_text(encoding="ascii").strip() == "1":
            fix = f"AppArmor allows it to root only, or after `sysctl {SYSCTL}=0`; {fix}"
        return f"cannot create a container ({output}); {fix}"

    def roots(self) -> list[Path]:
        """Return the folders of libraries, as they are in the container."""
        return [Path(path) for path in libraries()]
