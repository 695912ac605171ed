"""Errors that end a run."""


class RunError(Exception):
    """A run cannot continue; the message is one sentence that says what to do."""


class ClusterError(RunError):
    """No worker is left to grade; the message is one sentence."""


class FileError(RunError):
    """A file or folder that staff gave cannot be used; the message is one sentence."""


class Stopped(Exception):
    """Ctrl-C was pressed, and what was in progress is finished and in the store."""
