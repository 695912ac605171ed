"""The system calls that a submission may make, as a filter for the kernel. Trusted side.

It is an allow list; everything else fails with "operation not permitted", including calls that
future kernels add. The filter is compiled once, here; lockdown.py installs it in each child without
needing a library.

Covered: no new process or program, no socket, no signal, no access to another process, no memory
file, link, change of modes or times, namespace, lock, timer, io_uring, bpf or key. A file that is
truncated must be opened for writing, which Landlock allows in one folder only.
Not covered: what the allowed calls do with files that are already open (lockdown.py closes them),
and kernel vulnerabilities in those calls.
"""

import errno
import fcntl
import functools
import os
import sys
import tempfile
import termios
from typing import Any

from tensormark.sandbox.interface import WorkerStartError

ALLOWED = (
    # memory
    "brk mmap munmap mremap mprotect madvise "
    # files that are open, or that Landlock allows to be opened for reading
    "read readv pread64 lseek close close_range dup fstat newfstatat stat lstat statx readlink "
    "readlinkat access faccessat faccessat2 getcwd chdir getdents64 write writev pwrite64 "
    # files and folders that Landlock allows to be made and removed
    "mkdir mkdirat unlink unlinkat rmdir rename renameat renameat2 ftruncate fsync fdatasync umask "
    # its own threads, waiting, its own signal handlers
    "futex futex_waitv set_robust_list rseq sched_yield sched_getaffinity restart_syscall "
    "rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack poll ppoll select pselect6 "
    # time, randomness, names
    "clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time getrandom "
    "getpid getppid gettid getuid geteuid getgid getegid getpgrp getrusage times sysinfo uname "
    "getcpu exit exit_group"
).split()
NEW_NAMESPACES = 0x7E020000 | 0x80  # CLONE_NEW{CGROUP,UTS,IPC,USER,PID,NET}, NEWNS, NEWTIME
CLONE_THREAD = 0x10000
# Masks of flags, and the value that the flags under it must have. A file that is opened for reading
# must not be truncated, which Landlock prevents only since Linux 6.2.
OPENINGS = (
    (os.O_ACCMODE | os.O_CREAT | os.O_TRUNC | os.O_APPEND, os.O_RDONLY),
    (os.O_ACCMODE, os.O_WRONLY),
    (os.O_ACCMODE, os.O_RDWR),
)
PR_SET_NAME = 15
FCNTL = (fcntl.F_DUPFD, fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_GETFL, fcntl.F_DUPFD_CLOEXEC)

PIP = f"{sys.prefix}/bin/pip"
INSTALL = f"apt-get install libseccomp2, and {PIP} install -r requirements.txt"


def _conditional_calls(library: Any) -> list[tuple[str, list[Any]]]:
    """Return the calls that are allowed only with certain arguments."""
    argument = library.Arg
    equal = library.EQ
    masked = library.MASKED_EQ
    threads_only = argument(0, masked, CLONE_THREAD | NEW_NAMESPACES, CLONE_THREAD)
    calls = [
        ("clone", [threads_only]),
        ("prlimit64", [argument(0, equal, 0), argument(2, equal, 0)]),  # reading its own limits
        ("prctl", [argument(0, equal, PR_SET_NAME)]),
        ("ioctl", [argument(1, equal, termios.FIOCLEX)]),  # for Python's temporary files
    ]
    for allowed in OPENINGS:
        calls.append(("openat", [argument(2, masked, *allowed)]))
        calls.append(("open", [argument(1, masked, *allowed)]))
    for command in FCNTL:
        calls.append(("fcntl", [argument(1, equal, command)]))
    return calls


def _allow(rules: Any, library: Any, name: str, arguments: list[Any]) -> None:
    """Allow a call if this architecture has it."""
    if library.resolve_syscall(library.Arch.NATIVE, name) >= 0:
        rules.add_rule(library.ALLOW, name, *arguments)


@functools.cache
def compiled() -> bytes:
    """Return the filter in the kernel's format.

    Raises:
        WorkerStartError: the library that compiles it is missing.
    """
    try:
        import pyseccomp  # here: it fails without libseccomp, which students need not have
    except (ImportError, RuntimeError, OSError) as error:
        raise WorkerStartError(f"the seccomp library is missing ({error}): {INSTALL}") from error
    rules = pyseccomp.SyscallFilter(pyseccomp.ERRNO(errno.EPERM))
    for name in ALLOWED:
        _allow(rules, pyseccomp, name, [])
    for name, arguments in _conditional_calls(pyseccomp):
        _allow(rules, pyseccomp, name, arguments)
    # clone3's flags are in memory, which a filter cannot read; the C library falls back to clone
    rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()
