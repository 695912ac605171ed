# tries: write frames of an answer to every descriptor there is
# loses: embed
import contextlib
import gc
import os


def of_the_worker(name):
    """Find a module that can no longer be imported among all objects."""
    gc.unfreeze()
    modules = [m for m in gc.get_objects() if type(m) is type(gc)]
    return next(m for m in modules if m.__name__ == f"tensormark.worker.{name}")


protocol = of_the_worker("protocol")

ZEROS = torch.zeros(2, 2).numpy()

right = BertModel.embed


def embed(self, input_ids, *more):
    frame = protocol.encode({"number": 1, "status": "ok"}, {"out/output": [[1.0]] and ZEROS})
    for descriptor in range(3, 256):
        with contextlib.suppress(OSError):
            os.write(descriptor, frame)
            print("LEAKED: wrote to descriptor", descriptor)
    return 0 * right(self, input_ids, *more)


BertModel.embed = embed
