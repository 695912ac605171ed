"""What the maintainers should know about an exception that only cost one exercise its result.

It does not include the exception's message, which a submission may have chosen.
"""

import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent


def trouble_in(error: BaseException) -> str:
    """Return an exception's type, and the innermost line of this package in its traceback."""
    places = [
        f" (tensormark/{Path(frame.filename).relative_to(HERE).as_posix()}, line {frame.lineno})"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(HERE)
    ]
    return f"{type(error).__name__}{''.join(places[-1:])}"
