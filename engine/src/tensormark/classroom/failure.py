"""Errors that end a run."""


class RunError(Exception):
    """A run cannot continue; the message is one sentence that says what to do."""


class ClusterError(RunError):
    """No worker is left to grade; the message is one sentence."""


class LedgerError(RunError):
    """A file that staff wrote about a class cannot be used; the message is one sentence."""


class Stopped(Exception):
    """Ctrl-C was pressed, and what was in progress is finished and in the store."""
