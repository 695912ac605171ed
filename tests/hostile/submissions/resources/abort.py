# tries: dump core
# loses: embed
import os
import resource


def embed(self, input_ids, *more):
    resource.setrlimit(resource.RLIMIT_CORE, (-1, -1))
    os.abort()
