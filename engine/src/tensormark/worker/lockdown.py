"""Permanently drop everything that a submission does not need. Runs in the fork server's child.

Covered: open files, resource limits, one core, capabilities, the file system (Landlock: Python and
the checkpoint can be read, one folder written to) and system calls (the filter of seccomp.py).
Each step either works or raises LockdownError; none is skipped because the kernel lacks a feature.
Not covered: time (the trusted side's deadlines), the processor's caches, and anything already in
memory: the fork server must not hold secrets.
"""

import ctypes
import math
import os
import struct
from collections.abc import Iterable
from pathlib import Path

from tensormark.worker import scratch
from tensormark.worker.prepare import limit_resources

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
FIRST_KILLED = "1000"
SECCOMP_MODE_FILTER = 2
# the same numbers on every architecture
LANDLOCK_CREATE = 444
LANDLOCK_ADD = 445
LANDLOCK_RESTRICT = 446
LANDLOCK_VERSION = 1
LANDLOCK_BENEATH = 1
WRITE_FILE = 1 << 1
READ_FILE = 1 << 2
READ_FOLDER = 1 << 3
READ = READ_FILE | READ_FOLDER
# remove a folder (4) or file (5), make a folder (7) or file (8) but no link, move to another folder
# (13), truncate (14)
WRITE = WRITE_FILE | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 13 | 1 << 14
ACCESS = {1: 13, 2: 14, 3: 15, 5: 16}  # Landlock version to the number of access kinds it knows
CAPSET = {"x86_64": 126, "aarch64": 91}
CAPABILITY_VERSION = 0x20080522
SIGKILL = 9


class LockdownError(Exception):
    """The kernel does not support or allow something; the message names it."""


def _call(feature: str, function: object, *arguments: object) -> int:
    """Call a function of the C library.

    Args:
        feature: the name of the kernel's feature, for the error.

    Raises:
        LockdownError: the call fails.
    """
    result = int(function(*arguments))  # type: ignore[operator]
    if result < 0:
        raise LockdownError(f"{feature} does not work here: {os.strerror(ctypes.get_errno())}")
    return result


def _task_count(user: int) -> int:
    """Count a user's visible processes and threads: RLIMIT_NPROC counts both."""
    count = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == user:
                    count += len(os.listdir(f"/proc/{entry.name}/task"))
            except OSError:  # it has ended in the meantime
                continue
    return count


def _limit_resources(memory: int, seconds: float, files: int, threads: int) -> None:
    """Limit memory, processor time, files and threads; forbid core dumps."""
    limits = {
        "RLIMIT_AS": memory,
        "RLIMIT_CPU": math.ceil(seconds),
        "RLIMIT_NOFILE": files,
        "RLIMIT_NPROC": _task_count(os.getuid()) + threads,
        "RLIMIT_FSIZE": scratch.MAX_FILE,
        "RLIMIT_CORE": 0,
        "RLIMIT_MEMLOCK": 0,
        "RLIMIT_MSGQUEUE": 0,
    }
    try:
        limit_resources(limits)
    except (OSError, ValueError) as error:
        raise LockdownError(f"resource limits cannot be set: {error}") from error


def _yield_to_others(core: int | None) -> None:
    """Run on one core, and be the first process killed when the machine runs out of memory."""
    try:
        if core is not None:
            os.sched_setaffinity(0, {core})
        # after a change of user, root owns the process's /proc files unless it may be dumped
        _call("PR_SET_DUMPABLE", LIBC.prctl, PR_SET_DUMPABLE, 1, 0, 0, 0)
        Path("/proc/self/oom_score_adj").write_text(FIRST_KILLED, encoding="ascii")
        _call("PR_SET_DUMPABLE", LIBC.prctl, PR_SET_DUMPABLE, 0, 0, 0, 0)
    except OSError as error:
        raise LockdownError(f"cannot set a process's core or OOM score: {error}") from error


def drop_capabilities() -> None:
    """Drop every capability, and the ways to gain one."""
    capset = CAPSET.get(os.uname().machine)
    if capset is None:
        raise LockdownError(f"capabilities cannot be dropped on {os.uname().machine}")
    header = struct.pack("<Ii", CAPABILITY_VERSION, 0)
    no_capabilities = bytes(24)
    _call("dropping capabilities", LIBC.syscall, capset, header, no_capabilities)
    _call("no_new_privs", LIBC.prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def landlock_version() -> int:
    """Return the version of the kernel's Landlock.

    Raises:
        LockdownError: the kernel has no Landlock.
    """
    feature = "Landlock (Linux 5.13 or later, with `landlock` among the kernel's lsm=)"
    return _call(feature, LIBC.syscall, LANDLOCK_CREATE, None, 0, LANDLOCK_VERSION)


def landlock_ruleset(
    readable: Iterable[str], listable: Iterable[str] = (), writable: Iterable[str] = ()
) -> int:
    """Return the descriptor of a Landlock ruleset that allows using these files and folders only.

    Args:
        listable: folders in which only file names can be read.
        writable: folders that can be read and written to, as the null device always can.
    """
    version = landlock_version()
    handled = (1 << max(bits for since, bits in ACCESS.items() if since <= version)) - 1
    # the kernel accepts a shorter structure: file access only; seccomp handles the network
    ruleset = _call("Landlock", LIBC.syscall, LANDLOCK_CREATE, struct.pack("<Q", handled), 8, 0)
    rights = dict.fromkeys(listable, READ_FOLDER)
    rights |= {p: READ if Path(p).is_dir() else READ_FILE for p in readable}
    rights |= dict.fromkeys(writable, READ | WRITE & handled)
    rights[os.devnull] = READ_FILE | WRITE_FILE
    for path, allowed in rights.items():
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("<Qi", allowed, descriptor)
        _call(f"Landlock, {path}", LIBC.syscall, LANDLOCK_ADD, ruleset, LANDLOCK_BENEATH, rule, 0)
        os.close(descriptor)
    return ruleset


def _restrict_files(ruleset: int) -> None:
    """Apply a ruleset: nothing else can be read or written."""
    _call("Landlock", LIBC.syscall, LANDLOCK_RESTRICT, ruleset, 0)
    os.close(ruleset)


def _filter_calls(compiled: bytes) -> None:
    """Install the system call filter."""
    instructions = ctypes.create_string_buffer(compiled, len(compiled))

    class FilterProgram(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    program = FilterProgram(len(compiled) // 8, ctypes.cast(instructions, ctypes.c_void_p))
    arguments = (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program))
    _call("seccomp", LIBC.prctl, *arguments)


def die_with_parent() -> None:
    """Make the kernel kill this process when its parent ends."""
    parent = os.getppid()
    _call("PR_SET_PDEATHSIG", LIBC.prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        raise LockdownError("the fork server has ended")


def switch_user(user: int, needed: Iterable[str]) -> None:
    """Switch from root to a user that owns nothing.

    Args:
        needed: files and folders that this user must be able to read, besides Python.

    Raises:
        LockdownError: that user cannot read this Python, or one of them.
    """
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    try:
        os.stat(os.__file__)
    except OSError as error:
        raise LockdownError(
            f"only root can read this Python, {os.__file__}; "
            "install it elsewhere, grade as its owner, or use the tier `contained`"
        ) from error
    for path in needed:
        try:
            inside = [file.path for file in os.scandir(path)] if os.path.isdir(path) else [path]
            for file in inside:
                os.close(os.open(file, os.O_RDONLY))
        except OSError as error:
            text = f"only root can read {error.filename}: chmod -R a+rX {path}"
            raise LockdownError(f"{text}; the folders above it need a+x, too") from error


def lock_down(
    ruleset: int,
    compiled: bytes,
    core: int | None,
    memory: int,
    seconds: float,
    files: int,
    threads: int,
) -> None:
    """Apply every step, in an order in which none disables a later one.

    Args:
        ruleset: the descriptor of a Landlock ruleset; see `landlock_ruleset`.
        compiled: the system call filter.
        core: the only processor core to run on, or None for all.
        memory: the address space, in bytes.
        seconds: the processor time.
        files, threads: how many files may be open, and threads run, at the same time.
    """
    _yield_to_others(core)
    _limit_resources(memory, seconds, files, threads)
    drop_capabilities()
    _restrict_files(ruleset)
    _filter_calls(compiled)
