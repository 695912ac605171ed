# tries: sleep past every deadline
# loses: embed
import time


def embed(self, input_ids, *more):
    time.sleep(10**6)
