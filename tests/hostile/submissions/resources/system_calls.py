# tries: make the system calls that sandboxes are left by
# loses: nothing
import ctypes
import os

CALLS = {  # by their numbers on x86_64; elsewhere these are other calls, which are refused too
    "ptrace": (101, 16, os.getppid(), 0, 0),
    "process_vm_readv": (310, os.getppid(), 0, 0, 0, 0, 0),
    "unshare, user namespace": (272, 0x10000000),
    "clone3": (435, 0, 0),
    "vfork": (58,),
    "bpf": (321, 5, 0, 0),
    "io_uring_setup": (425, 1, 0),
    "keyctl": (250, 0, -3, 0, 0, 0),
    "add_key": (248, b"user", b"hostile_mark", b"x", 1, -3),
    "userfaultfd": (323, 0),
    "perf_event_open": (298, 0, 0, -1, -1, 0),
    "pidfd_open": (434, os.getppid(), 0),
    "mount": (165, b"none", b"/tmp", b"tmpfs", 0, 0),
    "setns": (308, 0, 0),
    "prctl, PR_SET_PDEATHSIG": (157, 1, 0),
    "prctl, PR_SET_DUMPABLE": (157, 4, 1),
    "setuid": (105, 0),
    "sched_setaffinity": (203, os.getppid(), 8, b"\1" + bytes(7)),
    "setpriority": (141, 0, os.getppid(), 19),
    "inotify_init": (253,),
    "timer_create": (222, 1, 0, 0),
}


def embed(self, input_ids, *more):
    library = ctypes.CDLL(None, use_errno=True)
    for name, arguments in CALLS.items():
        if library.syscall(*arguments) >= 0:
            print("LEAKED:", name, "was let through")
    return right(self, input_ids, *more)
