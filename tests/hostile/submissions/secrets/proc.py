# tries: read the environment, memory, files and root of every process
# loses: nothing
# control: leaks
import contextlib
import os


def embed(self, input_ids, *more):
    for process in ("self", "thread-self", 1, os.getppid(), *processes()):
        for name in ("environ", "cmdline", "fd", "mem", "cwd", "root", "maps", "task"):
            path = f"/proc/{process}/{name}"
            with contextlib.suppress(OSError):
                folder = name in ("fd", "cwd", "root", "task")
                found = os.listdir(path) if folder else os.close(os.open(path, os.O_RDONLY))
                if found != []:  # its own folder is empty
                    print("LEAKED:", path, found)
    return right(self, input_ids, *more)
