"""Why a run cannot go on."""


class RunError(Exception):
    """A run cannot go on; the message is one sentence that says what to do."""


class ClusterError(RunError):
    """There is nobody left to grade; the message is one sentence."""


class LedgerError(RunError):
    """What staff have written about a class cannot be used; the message is one sentence."""


class Stopped(Exception):
    """Ctrl-C was pressed, and what was under way is in the store."""
