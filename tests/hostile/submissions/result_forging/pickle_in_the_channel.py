# tries: have the worker send a pickle in place of tensors
# loses: everything
import os
import pickle


class Payload:
    def __reduce__(self):
        return os.system, ("touch /tmp/hostile_mark",)


protocol.save = lambda tensors: pickle.dumps(Payload())
