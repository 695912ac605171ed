# tries: leave threads running that never end
# loses: nothing
import threading
import time


def spin():
    while True:
        time.sleep(0.001)


def embed(self, input_ids, *more):
    for _ in range(4):
        threading.Thread(target=spin, daemon=False).start()
    return right(self, input_ids, *more)
