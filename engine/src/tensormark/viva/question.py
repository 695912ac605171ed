"""Questions about a submission's own functions, and sheets of them, as data.

Texts are plain, with code between backticks; in code, « and » enclose what is changed. The code is
a student's, so texts must be escaped when they are shown.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

OPTIONS = 4  # of each question
LETTERS = "ABCD"  # of the options


@dataclasses.dataclass(frozen=True)
class Listing:
    """A function as it is in the submission, without its docstring and common indentation.

    Attributes:
        name: of the function, such as "Layer.forward".
        file: the file that it is in.
        lines: numbers in the file, and texts.
    """

    name: str
    file: str
    lines: tuple[tuple[int, str], ...]


@dataclasses.dataclass(frozen=True)
class Question:
    """A question with its answer.

    Attributes:
        family: the kind of question, such as "effect".
        function: the name of the listing that it is about.
        line: the number of the line that it is about; code: that line after a change, or nothing.
        prompt: the question itself.
        options: the possible answers, one of them right.
        key: the index of the right option.
        reason: why it is right, as runs have shown.
        ask_next: what to ask next in a conversation; for staff.
    """

    family: str
    function: str
    line: int
    prompt: str
    code: str
    options: tuple[str, ...]
    key: int
    reason: str
    ask_next: str


@dataclasses.dataclass(frozen=True)
class Sheet:
    """Questions for one student.

    Attributes:
        assignment, submission: their names, printable.
        seed: the seed that it was drawn with.
        listings: the functions that the questions are about.
        about: what its reader should know to answer.
        notes: why there are fewer questions than asked for, or none.
    """

    assignment: str
    submission: str
    seed: str
    listings: tuple[Listing, ...] = ()
    questions: tuple[Question, ...] = ()
    about: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Sheet":
        """Undo `dataclasses.asdict`, perhaps after JSON."""
        listings = tuple(Listing(**each) for each in value["listings"])
        questions = tuple(Question(**each) for each in value["questions"])
        return cls(**{**value, "listings": listings, "questions": questions})
