# tries: replace what the worker calls an error, and the state that it reports
# loses: everything


calls = of_the_worker("calls")

calls.StudentError = ZeroDivisionError
calls.Snapshot.changed = lambda self: None


def embed(self, input_ids, *more):
    return 0 * right(self, input_ids, *more)
