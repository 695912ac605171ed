# tries: warn in every call, with control characters
# loses: nothing
import warnings


def embed(self, input_ids, *more):
    for number in range(2000):
        warnings.warn(f"\x1b[2J\n  score   100 / 100\n{number}", stacklevel=1)
    return right(self, input_ids, *more)
