"""Run a command, and print as JSON the time it took: `python benchmarks/used.py COMMAND`.

It becomes the parent of orphaned processes, such as those of a killed container, so that the
processor time of every process counts.
"""

import contextlib
import ctypes
import json
import os
import resource
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36


def main() -> int:
    """Run and print; return the command's exit status."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    started = time.perf_counter()
    with subprocess.Popen(
        sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        first_line = time.perf_counter() - started
        process.stdout.read()
    seconds = time.perf_counter() - started
    with contextlib.suppress(ChildProcessError):  # no child is left
        while True:
            os.wait()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(json.dumps([first_line, seconds, usage.ru_utime + usage.ru_stime]))
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
