# tries: start programs: a shell, Python, what exec finds
# loses: nothing
import contextlib
import os
import subprocess
import sys


def embed(self, input_ids, *more):
    for program in ("/bin/sh", "/usr/bin/id", sys.executable):
        with contextlib.suppress(OSError):
            print(
                "LEAKED: ran", subprocess.run([program, "-c", "1"], capture_output=True).returncode
            )
        with contextlib.suppress(OSError):
            os.posix_spawn(program, [program], {})
            print("LEAKED: spawned", program)
        with contextlib.suppress(OSError):
            os.execv(program, [program, "-c", "1"])
    if os.system("true") == 0:
        print("LEAKED: a shell ran")
    return right(self, input_ids, *more)
