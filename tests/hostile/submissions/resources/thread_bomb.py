# tries: start a hundred thousand threads
# loses: nothing
import contextlib
import threading
import time


def embed(self, input_ids, *more):
    threading.stack_size(1 << 16)
    with contextlib.suppress(RuntimeError, MemoryError):
        for _ in range(100_000):
            threading.Thread(target=time.sleep, args=(10**6,), daemon=True).start()
        print("LEAKED: a hundred thousand threads")
    return right(self, input_ids, *more)
