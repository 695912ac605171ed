"""What a submission may not call."""

import dataclasses
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


SHORT = (("torch.nn.functional.", "F."), ("torch.nn.", "nn."))  # what students call modules


def usual_names(paths: Iterable[str]) -> dict[str, str]:
    """Return full names to what students write, such as F.x for torch.nn.functional.x."""
    names = {}
    for path in paths:
        matching = [(full, short) for full, short in SHORT if path.startswith(full)]
        full, short = matching[0] if matching else ("", "")
        names[path] = short + path.removeprefix(full)
    return names
