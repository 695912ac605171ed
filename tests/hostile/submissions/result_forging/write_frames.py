# tries: write frames of an answer to every descriptor there is
# loses: embed
import contextlib
import os

ZEROS = torch.zeros(2, 2).numpy()


def embed(self, input_ids, *more):
    frame = protocol.encode({"number": 1, "status": "ok"}, {"out/output": [[1.0]] and ZEROS})
    for descriptor in range(3, 256):
        with contextlib.suppress(OSError):
            os.write(descriptor, frame)
            print("LEAKED: wrote to descriptor", descriptor)
    return 0 * right(self, input_ids, *more)
