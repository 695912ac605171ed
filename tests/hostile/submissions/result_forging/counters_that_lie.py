# tries: claim that all calls are begun, again and again, and take for ever
# loses: embed

BEGUN = 0  # where the number of calls begun stands


def embed(self, input_ids, *more):
    memory = reply_buffer()
    while True:
        for number in range(1, 9):
            memory.put(BEGUN, number)
