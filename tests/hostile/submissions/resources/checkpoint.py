# tries: change the checkpoint on disk, for those who come after
# loses: nothing
import contextlib
import os


def embed(self, input_ids, *more):
    for path in ("{CHECKPOINT}/model.safetensors", "{CHECKPOINT}/config.json"):
        for flags in (os.O_WRONLY, os.O_RDWR, os.O_RDONLY | os.O_TRUNC, os.O_WRONLY | os.O_APPEND):
            with contextlib.suppress(OSError):
                os.open(path, flags)
                print("LEAKED: opened for writing:", path)
        for change in (
            os.unlink,
            lambda path: os.truncate(path, 0),
            lambda path: os.chmod(path, 0),
        ):
            with contextlib.suppress(OSError):
                change(path)
                print("LEAKED: changed", path)
    return right(self, input_ids, *more)
