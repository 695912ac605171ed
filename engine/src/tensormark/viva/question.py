"""Questions about a submission's own functions, and sheets of them, as data.

Texts are plain; what stands between backticks is code. Code is a student's, so that whoever shows
a text escapes it. Sheets that students get are made with `for_students`, which holds no answer.
"""

import dataclasses
import hashlib
from collections.abc import Mapping
from typing import Any

OPTIONS = 4  # of each question


@dataclasses.dataclass(frozen=True)
class Listing:
    """A function as it stands in the submission, without its docstring.

    Attributes:
        name: of the function, such as "Layer.forward".
        file: that it is in.
        lines: numbers in the file, and texts; what lies between two others may be left out.
    """

    name: str
    file: str
    lines: tuple[tuple[int, str], ...]

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Listing":
        """Return what `dataclasses.asdict` was made of, perhaps by way of JSON."""
        lines = tuple((int(number), str(text)) for number, text in value["lines"])
        return cls(str(value["name"]), str(value["file"]), lines)


@dataclasses.dataclass(frozen=True)
class Mark:
    """A place in a function that questions name by its label, so that they need not quote it.

    Attributes:
        function: as its listing is named; line: the number of its line.
        start, end: columns of that line, from 0, tabs counted as `expandtabs(4)` makes them.
        label: a number on the sheet; empty until `labelled` gives it one.
    """

    function: str
    line: int
    start: int
    end: int
    label: str = ""


@dataclasses.dataclass(frozen=True)
class Picture:
    """Numbers that the run found, to show beside an explanation.

    Attributes:
        title: such as "the first row of the result".
        before, after: two-dimensional, of at most 8 x 8 numbers: of the function as it is, and as
            changed. Empty if it does not run.
    """

    title: str
    before: tuple[tuple[float, ...], ...]
    after: tuple[tuple[float, ...], ...]

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Picture":
        """Return what `dataclasses.asdict` was made of, perhaps by way of JSON."""
        before, after = (
            tuple(tuple(map(float, row)) for row in value[name]) for name in ("before", "after")
        )
        return cls(str(value["title"]), before, after)


@dataclasses.dataclass(frozen=True)
class Question:
    """A question with one right answer.

    Attributes:
        family: the kind of question, such as "counterfactual".
        function: that it is about, as its listing is named.
        line: the first line of the place that it is about.
        prompt: what is asked: one to three sentences.
        options: the possible answers, of which one is right; key: its place.
        explanation: why it is right, from the run that decided it.
        others: why each option is not, from the same runs; empty for the key.
        ask_next: what to ask next in a conversation; for staff.
        picture: shows the numbers, where they say more than words.
        marks: the places that its texts name, by `named`.
    """

    family: str
    function: str
    line: int
    prompt: str
    options: tuple[str, ...]
    key: int
    explanation: str
    others: tuple[str, ...] = ("",) * OPTIONS
    ask_next: str = ""
    picture: Picture | None = None
    marks: tuple[Mark, ...] = ()

    @property
    def code(self) -> str:
        """Eight letters that name it where platforms keep its answers; they do not tell the key."""
        told = "\0".join([self.family, self.function, self.prompt, *self.options])
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:8].upper()

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Question":
        """Return what `dataclasses.asdict` was made of, perhaps by way of JSON."""
        picture = value["picture"] and Picture.from_json(value["picture"])
        lists = {name: tuple(map(str, value[name])) for name in ("options", "others")}
        marks = tuple(Mark(**mark) for mark in value["marks"])
        return cls(**{**value, **lists, "picture": picture, "marks": marks})


@dataclasses.dataclass(frozen=True)
class Sheet:
    """Questions for one student.

    Attributes:
        assignment: its name; submission: what it is called, printable.
        seed: that it was drawn with.
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
        """Return what `dataclasses.asdict` was made of, perhaps by way of JSON."""
        made = {
            "listings": tuple(map(Listing.from_json, value["listings"])),
            "questions": tuple(map(Question.from_json, value["questions"])),
            "notes": tuple(map(str, value["notes"])),
            "marks": tuple(Mark(**mark) for mark in value["marks"]),
        }
        return cls(**{**value, **made})

    def for_students(self) -> dict[str, Any]:
        """Return what a student may see of it, as JSON: no key, explanation or seed."""
        shown = ("family", "function", "line", "prompt", "options")
        return {
            "assignment": self.assignment,
            "submission": self.submission,
            "listings": [dataclasses.asdict(listing) for listing in self.listings],
            "questions": [
                {"code": question.code, **{name: getattr(question, name) for name in shown}}
                for question in self.questions
            ],
            "notes": list(self.notes),
            "marks": [dataclasses.asdict(mark) for mark in self.marks],
        }


def named(place: int) -> str:
    """Return what stands in a question's texts for the label of one of its marks."""
    return f"\ue000{place}\ue001"


def labelled(sheet: Sheet) -> Sheet:
    """Return a sheet whose marks are numbered, and whose texts name them by these numbers."""
    order = [listing.name for listing in sheet.listings]
    found = {mark for question in sheet.questions for mark in question.marks}
    ordered = sorted(found, key=lambda m: (order.index(m.function), m.line, m.start, -m.end))
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
