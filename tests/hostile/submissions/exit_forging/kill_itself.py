# tries: kill its own process, so that nobody can tell what happened
# loses: embed
import os
import signal


def embed(self, input_ids, *more):
    os.kill(os.getpid(), signal.SIGKILL)
    return right(self, input_ids, *more)
