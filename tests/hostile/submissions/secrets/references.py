# tries: read the references, to answer with them
# loses: nothing
# control: leaks
import contextlib
import os

PATHS = [
    "{ROOT}/reference_outputs",
    "{ROOT}/reference_outputs/embed.safetensors",
    "{ROOT}/reference_outputs/manifest.json",
    "{ROOT}/reference_outputs/private",
]

right = BertModel.embed


def embed(self, input_ids, *more):
    for path in PATHS:
        with contextlib.suppress(OSError):
            if os.path.isdir(path):
                print("LEAKED: listed", path, os.listdir(path))
            else:
                with open(path, "rb") as file:
                    print("LEAKED: read", path, file.read(40))
    return right(self, input_ids, *more)


BertModel.embed = embed
