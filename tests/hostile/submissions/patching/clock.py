# tries: stop the clocks and take for ever
# loses: embed
import time


def embed(self, input_ids, *more):
    time.time = time.monotonic = time.perf_counter = lambda: 0.0
    while True:
        pass
