"""How many questions about their own code students answered right; it changes no score.

Of several answers to a question, in one export or in two, the first counts. What is to no question
of a student's own sheet counts nowhere, and is told.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tensormark.classroom import viva_answers
from tensormark.classroom.entry import Entry, first_of, number_of
from tensormark.classroom.people import Person, matches
from tensormark.classroom.standing import person_of
from tensormark.classroom.viva import Drawn
from tensormark.reports.text import visible

STRANGE = "to a question of no sheet of theirs, and not counted"
UNCLEAR = "like none of the question's options, and counted as wrong"


def check(paths: Sequence[Path]) -> None:
    """Read exports, to say what is wrong with them before anything is graded.

    Raises:
        LedgerError: one cannot be used.
    """
    for path in paths:
        viva_answers.read(path, ())


@dataclass
class Answers:
    """What exports say.

    Attributes:
        given: texts of options by code, by the student's place in the class.
        strangers: who answered, and is not in the class.
        told: lines for staff.
    """

    given: dict[int, dict[str, str]] = field(default_factory=dict)
    strangers: dict[str, None] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)

    def read(self, path: Path, everybody: Sequence[Drawn]) -> None:
        """Add what an export says."""
        sheets = [drawn.sheet for drawn in everybody if drawn.sheet]
        known = {question.code for sheet in sheets for question in sheet.questions}
        attempts, lines = viva_answers.read(path, known)
        self.told += [f"viva: {line}" for line in lines]
        persons = list(dict.fromkeys(attempt.person for attempt in attempts))
        people = [person_of(drawn.entry.hand_in) for drawn in everybody]
        places = dict(zip(persons, matches(persons, people), strict=True))
        for attempt in attempts:
            place = places[attempt.person]
            if place is None:
                self.strangers[_name(attempt.person)] = None
            else:
                own = self.given.setdefault(place, {})
                own |= {code: text for code, text in attempt.answers.items() if code not in own}


def _name(person: Person) -> str:
    return visible(next(text for text in (*person.names, *person.ids) if text), 60)


def _marked(drawn: Drawn, given: dict[str, str], odd: dict[str, list[str]]) -> Entry:
    """Return an entry with how many answers are right; note what is odd about them."""
    name = visible(drawn.entry.hand_in.called, 60)
    questions = drawn.sheet.questions if drawn.sheet else ()
    own = {question.code: question for question in questions}
    odd[STRANGE] += [name] * len(given.keys() - own.keys())
    chosen = {
        code: viva_answers.chosen(given[code], question.options)
        for code, question in own.items()
        if code in given
    }
    odd[UNCLEAR] += [name for place in chosen.values() if place is None]
    right = sum(own[code].key == place for code, place in chosen.items())
    return replace(drawn.entry, viva=(right, len(questions)) if chosen else None)


def _told(entries: Sequence[Entry], sheets: int, odd: dict[str, list[str]]) -> Iterator[str]:
    answered = sum(entry.viva is not None for entry in entries)
    count = number_of(answered, "student")
    yield f"viva: {count} answered, {sheets - answered} with a sheet did not"
    for what, names in odd.items():
        if names:
            count = f"{len(names)} {'answer is' if len(names) == 1 else 'answers are'}"
            yield f"viva: {count} {what}: {first_of(list(dict.fromkeys(names)))}"


def marked(everybody: Sequence[Drawn], paths: Sequence[Path]) -> tuple[list[Entry], list[str]]:
    """Return entries with how many answers are right, and what to tell staff, a line each.

    Raises:
        LedgerError: an export cannot be used.
    """
    answers, odd = Answers(), {STRANGE: list[str](), UNCLEAR: list[str]()}
    for path in paths:
        answers.read(path, everybody)
    entries = [
        _marked(drawn, answers.given.get(place, {}), odd) for place, drawn in enumerate(everybody)
    ]
    lines = [*_told(entries, sum(bool(one.sheet) for one in everybody), odd), *answers.told]
    if names := list(answers.strangers):
        lines.append(f"viva: {len(names)} who answered not found in the class: {first_of(names)}")
    return entries, lines
