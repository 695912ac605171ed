"""Counts how many questions about their own code students answered right; scores stay the same.

Of several answers to a question, in one export or in several, the first counts. Answers to
questions that are not on the student's own sheet are ignored, and reported.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tensormark.classroom.entry import Entry, first_of, number_of
from tensormark.classroom.students.names import person_of
from tensormark.classroom.students.people import Person, matches
from tensormark.classroom.viva import exports
from tensormark.classroom.viva.sheets import StudentSheet
from tensormark.reports.text import visible

FOREIGN = "ignored {} to questions that are not on the student's sheet"
UNCLEAR = "counted {} as wrong for not matching an option"


def check(paths: Sequence[Path]) -> None:
    """Read exports, so that errors in them are found before anything is graded.

    Raises:
        FileError: one cannot be used.
    """
    for path in paths:
        exports.read(path, ())


def _read(
    paths: Sequence[Path], everybody: Sequence[StudentSheet]
) -> tuple[dict[int, dict[str, str]], list[str]]:
    """Read exports.

    Returns: the texts of chosen options, by code, by the student's index in the class; and lines
        for staff.
    """
    sheets = [student.sheet for student in everybody if student.sheet]
    known = {question.code for sheet in sheets for question in sheet.questions}
    people = [person_of(student.entry.hand_in) for student in everybody]
    texts, strangers, lines = dict[int, dict[str, str]](), dict[str, None](), list[str]()
    for path in paths:
        attempts, warnings = exports.read(path, known)
        lines += [f"viva: {warning}" for warning in warnings]
        persons = list(dict.fromkeys(person for person, _ in attempts))
        places = dict(zip(persons, matches(persons, people), strict=True))
        for person, answers in attempts:
            place = places[person]
            if place is None:
                strangers[_name(person)] = None
            else:
                texts[place] = answers | texts.get(place, {})
    if strangers:
        count = number_of(len(strangers), "respondent")
        lines.append(f"viva: {count} not in the class: {first_of(list(strangers))}")
    return texts, lines


def _name(person: Person) -> str:
    return visible(next(text for text in (*person.names, *person.ids) if text), 60)


def _marked(student: StudentSheet, texts: dict[str, str], problems: dict[str, list[str]]) -> Entry:
    """Return an entry with its number of right answers; add the student to any problems."""
    name = visible(student.entry.hand_in.called, 60)
    questions = student.sheet.questions if student.sheet else ()
    by_code = {question.code: question for question in questions}
    problems[FOREIGN] += [name] * len(texts.keys() - by_code.keys())
    chosen = {
        code: exports.chosen(texts[code], question.options)
        for code, question in by_code.items()
        if code in texts
    }
    problems[UNCLEAR] += [name for place in chosen.values() if place is None]
    right = sum(by_code[code].key == place for code, place in chosen.items())
    return replace(student.entry, viva=(right, len(questions)) if chosen else None)


def _report(entries: Sequence[Entry], sheets: int, problems: dict[str, list[str]]) -> Iterator[str]:
    answered = sum(entry.viva is not None for entry in entries)
    count = number_of(answered, "student")
    yield f"viva: {count} answered, {sheets - answered} with a sheet did not"
    for problem, names in problems.items():
        if names:
            text = problem.format(number_of(len(names), "answer"))
            yield f"viva: {text}: {first_of(list(dict.fromkeys(names)))}"


def marked(
    everybody: Sequence[StudentSheet], paths: Sequence[Path]
) -> tuple[list[Entry], list[str]]:
    """Return entries with their numbers of right answers, and lines for staff.

    Raises:
        FileError: an export cannot be used.
    """
    texts, lines = _read(paths, everybody)
    problems = {FOREIGN: list[str](), UNCLEAR: list[str]()}
    entries = [
        _marked(student, texts.get(index, {}), problems) for index, student in enumerate(everybody)
    ]
    sheets = sum(bool(student.sheet) for student in everybody)
    return entries, [*_report(entries, sheets, problems), *lines]
