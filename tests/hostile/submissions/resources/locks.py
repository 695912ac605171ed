# tries: take a lock on the checkpoint and keep it
# loses: nothing
import contextlib
import fcntl


def embed(self, input_ids, *more):
    with contextlib.suppress(OSError):
        file = open("{CHECKPOINT}/config.json")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        print("LEAKED: a lock on the checkpoint")
    with contextlib.suppress(OSError):
        fcntl.lockf(open("{CHECKPOINT}/config.json"), fcntl.LOCK_SH | fcntl.LOCK_NB)
        print("LEAKED: a record lock on the checkpoint")
    return right(self, input_ids, *more)
