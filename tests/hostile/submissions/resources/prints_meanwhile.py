# tries: print without end in a thread, while right answers are computed
# loses: nothing
import os
import threading


def flood():
    while True:
        os.write(1, b"x" * 65536)


threads = []


def embed(self, input_ids, *more):
    if not threads:
        threads.append(threading.Thread(target=flood, daemon=True))
        threads[0].start()
    return right(self, input_ids, *more)
