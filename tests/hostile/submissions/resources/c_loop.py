# tries: loop for ever in C, with signals ignored
# loses: embed
import contextlib
import signal


def embed(self, input_ids, *more):
    for number in signal.valid_signals():
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    sum(range(10**13))
