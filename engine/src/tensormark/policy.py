"""What a submission may not call."""

import dataclasses
import re
from collections.abc import Iterable


@dataclasses.dataclass(frozen=True)
class Policy:
    """What a submission may not call: full names of classes and functions.

    Attributes:
        forbidden: names such as "torch.nn.Conv1d".
        given_only: names that only given code may use, in calls that ask for it; see `Request`.
        flagged: packages whose import a person should look at, such as one with extension classes,
            which cannot be patched in place to forbid them.
        section: the heading of the handout that says what is forbidden.
    """

    forbidden: tuple[str, ...] = ()
    given_only: tuple[str, ...] = ()
    flagged: tuple[str, ...] = ()
    section: str = ""


MODULE = re.compile(r"^torch\.nn\.(functional\.)?")  # which students call nn, or F


def usual_names(paths: Iterable[str]) -> dict[str, str]:
    """Return full names to what students write, such as F.x for torch.nn.functional.x."""
    return {path: MODULE.sub(lambda match: "F." if match[1] else "nn.", path) for path in paths}
