"""Questions about a submission's own functions, and sheets of them, as data.

Texts are plain, with code between backticks. The code is a student's, so texts must be escaped when
they are shown. Students' sheets are made with `for_students`, whose result holds no answer.
"""

import dataclasses
import hashlib
from collections.abc import Mapping
from typing import Any

OPTIONS = 4  # of each question


@dataclasses.dataclass(frozen=True)
class Listing:
    """A function as it is in the submission, without its docstring.

    Attributes:
        name: of the function, such as "Layer.forward".
        file: the file that it is in.
        lines: numbers in the file, and texts; lines in between may be left out.
    """

    name: str
    file: str
    lines: tuple[tuple[int, str], ...]


@dataclasses.dataclass(frozen=True)
class Mark:
    """A place in a function that questions refer to by its label instead of quoting it.

    Attributes:
        function: the name of its listing; line: the number of its line.
        start, end: columns of that line, from 0, after `expandtabs(4)`.
        label: a number on the sheet; empty until `labelled` assigns it.
    """

    function: str
    line: int
    start: int
    end: int
    label: str = ""


@dataclasses.dataclass(frozen=True)
class Picture:
    """Numbers from the run that decided a question, to show beside the explanation.

    Attributes:
        title: such as "the first row of the result".
        before, after: two-dimensional, at most 8 x 8 numbers: of the unchanged and of the changed
            function.
    """

    title: str
    before: tuple[tuple[float, ...], ...]
    after: tuple[tuple[float, ...], ...]


@dataclasses.dataclass(frozen=True)
class Asked:
    """The part of a question that students see before they answer.

    Attributes:
        family: the kind of question, such as "counterfactual".
        function: the name of the listing that it is about.
        line: the first line of the place that it is about.
        prompt: the question itself: one to three sentences.
        options: the possible answers, one of them right.
    """

    family: str
    function: str
    line: int
    prompt: str
    options: tuple[str, ...]

    @property
    def code(self) -> str:
        """Eight letters that identify it on platforms; they do not give away the key."""
        content = "\0".join([self.family, self.function, self.prompt, *self.options])
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:8].upper()


@dataclasses.dataclass(frozen=True)
class Question(Asked):
    """A question with its answer.

    Attributes:
        key: the index of the right option.
        explanation: why it is right, from the run that decided it.
        others: why each other option is wrong, from the same runs; empty for the key.
        ask_next: what to ask next in a conversation; for staff.
        picture: the numbers, where they say more than words.
        marks: the places that its texts refer to with `named`.
    """

    key: int
    explanation: str
    others: tuple[str, ...] = ("",) * OPTIONS
    ask_next: str = ""
    picture: Picture | None = None
    marks: tuple[Mark, ...] = ()

    @property
    def asked(self) -> Asked:
        """The question without its answer."""
        return Asked(self.family, self.function, self.line, self.prompt, self.options)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Question":
        """Undo `dataclasses.asdict`; see `Sheet.from_json`."""
        picture = value["picture"] and Picture(**value["picture"])
        marks = tuple(Mark(**mark) for mark in value["marks"])
        return cls(**{**value, "picture": picture, "marks": marks})


def _with_tuples(value: Any) -> Any:
    """Replace the lists in a value by tuples, which JSON does not have."""
    if isinstance(value, dict):
        return {name: _with_tuples(field) for name, field in value.items()}
    return tuple(map(_with_tuples, value)) if isinstance(value, list) else value


@dataclasses.dataclass(frozen=True)
class Paper:
    """What students may see of a sheet: no key, explanation or seed."""

    assignment: str
    listings: tuple[Listing, ...]
    questions: tuple[Asked, ...]
    notes: tuple[str, ...]
    marks: tuple[Mark, ...]


@dataclasses.dataclass(frozen=True)
class Sheet:
    """Questions for one student.

    Attributes:
        assignment, submission: their names, printable.
        seed: the seed that it was drawn with.
        listings: the functions that the questions are about, in the order of the assignment.
        notes: what its reader should know, such as why there are fewer questions than asked for.
        marks: in the listings, in their order, with labels; see `labelled`.
    """

    assignment: str
    submission: str
    seed: str
    listings: tuple[Listing, ...]
    questions: tuple[Question, ...]
    notes: tuple[str, ...] = ()
    marks: tuple[Mark, ...] = ()

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Sheet":
        """Undo `dataclasses.asdict`, perhaps after JSON."""
        fields = _with_tuples(value)
        listings = tuple(Listing(**listing) for listing in fields["listings"])
        questions = tuple(map(Question.from_json, fields["questions"]))
        marks = tuple(Mark(**mark) for mark in fields["marks"])
        return cls(**{**fields, "listings": listings, "questions": questions, "marks": marks})

    def for_students(self) -> Paper:
        """Return what students may see."""
        asked = tuple(question.asked for question in self.questions)
        return Paper(self.assignment, self.listings, asked, self.notes, self.marks)


def named(place: int) -> str:
    """Return the placeholder, in a question's texts, for the label of one of its marks."""
    return f"\ue000{place}\ue001"


def labelled(sheet: Sheet) -> Sheet:
    """Return a sheet whose marks are numbered, and whose texts use these numbers."""
    order = [listing.name for listing in sheet.listings]
    unique = {mark for question in sheet.questions for mark in question.marks}
    ordered = sorted(unique, key=lambda m: (order.index(m.function), m.line, m.start, -m.end))
    numbers = {mark: str(number) for number, mark in enumerate(ordered, start=1)}

    def filled(text: str, marks: tuple[Mark, ...]) -> str:
        for place, mark in enumerate(marks):
            text = text.replace(named(place), numbers[mark])
        return text

    questions = tuple(
        dataclasses.replace(
            each,
            prompt=filled(each.prompt, each.marks),
            options=tuple(filled(text, each.marks) for text in each.options),
            explanation=filled(each.explanation, each.marks),
            others=tuple(filled(text, each.marks) for text in each.others),
            ask_next=filled(each.ask_next, each.marks),
        )
        for each in sheet.questions
    )
    marks = tuple(dataclasses.replace(mark, label=label) for mark, label in numbers.items())
    return dataclasses.replace(sheet, questions=questions, marks=marks)
