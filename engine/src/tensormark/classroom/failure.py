"""Errors that end a run."""

from tensormark.usage import UserError


class FileError(UserError):
    """A file or folder that staff gave cannot be used; the message is one sentence."""


class Stopped(Exception):
    """Ctrl-C was pressed, and what was in progress is finished and in the store."""
