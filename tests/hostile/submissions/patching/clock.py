# tries: stop the clocks and take for ever
# loses: embed
import time

right = BertModel.embed


def embed(self, input_ids, *more):
    time.time = time.monotonic = time.perf_counter = lambda: 0.0
    while True:
        pass


BertModel.embed = embed
