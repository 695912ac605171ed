# tries: leave an answer whose length is beyond the end of the memory
# loses: embed
import os


def embed(self, input_ids, *more):
    memory = reply_buffer()
    for slot in range(1, 5):
        memory.put(memory.start_of(slot), 2**63)
    os._exit(0)
