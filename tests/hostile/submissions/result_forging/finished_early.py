# tries: say that there is no more to come, before there is anything
# loses: embed
import time

FINISHED = 24  # where that is said


def embed(self, input_ids, *more):
    reply_buffer().put(FINISHED, 1)
    time.sleep(1000)
