"""Practice on a terminal: one question at a time, explained as soon as it is answered."""

import contextlib
import sys
import textwrap
from collections.abc import Iterator

from tensormark.reports.text import print_any_letter, visible
from tensormark.viva.question import Picture, Question, Sheet
from tensormark.viva.texts import LETTERS, MAX_TEXT_LENGTH, labelled_marks, numbered

WIDTH = 88
TRIES = 20  # invalid answers before a question is skipped
ASK = "A, B, C or D (Enter skips, q stops): "
STOP, SKIP = "Q", ""


def _wrapped(text: str, indent: str = "") -> Iterator[str]:
    """Yield a text as lines, wrapped; line breaks in code stay."""
    for line in visible(text, MAX_TEXT_LENGTH, keep="\n").split("\n"):
        rest = " " * len(indent)
        yield from textwrap.wrap(line, WIDTH, initial_indent=indent, subsequent_indent=rest) or [""]


def _listing(sheet: Sheet, question: Question) -> Iterator[str]:
    """Yield the function that a question is about, with an arrow at its line.

    Carets point to the places that the question refers to.
    """
    listing = next(each for each in sheet.listings if each.name == question.function)
    yield f"{visible(listing.name)} in {visible(listing.file)}"
    rows = zip(listing.lines, numbered(listing, labelled_marks(question, sheet)), strict=True)
    for (number, _), (text, *carets) in rows:
        yield f" {'>' if number == question.line else ' '} {text}"
        yield from (f"   {line}" for line in carets)
    yield ""


def _matrix(name: str, rows: tuple[tuple[float, ...], ...]) -> Iterator[str]:
    yield f"    {name}:"
    for row in rows:
        yield "      " + " ".join(f"{value:9.4g}" for value in row)


def _picture(picture: Picture) -> Iterator[str]:
    yield from _wrapped(picture.title, "    ")
    yield from _matrix("your function", picture.before)
    yield from _matrix("changed", picture.after)


def _explained(question: Question) -> Iterator[str]:
    yield from _wrapped(question.explanation, "    ")
    for letter, why in zip(LETTERS, question.others, strict=False):
        if why:
            yield from _wrapped(why, f"    {letter}: ")
    if question.picture:
        yield from _picture(question.picture)
    yield ""


def _line() -> str:
    """Return the next line of input.

    Raises:
        EOFError: there is none.
    """
    if sys.stdin.isatty():
        return input(ASK)
    print(ASK, end="")
    line = sys.stdin.readline(MAX_TEXT_LENGTH)
    print()
    if not line:
        raise EOFError
    return line


def _answer(question: Question) -> str:
    """Return the letter of an option, SKIP or STOP."""
    letters = LETTERS[: len(question.options)]
    for _ in range(TRIES):
        answer = _line().strip().upper()
        if answer in (STOP, SKIP) or (len(answer) == 1 and answer in letters):
            return answer
        print(f"{visible(answer, 20)!r} is not one of the answers.")
    return SKIP


def _asked(sheet: Sheet) -> Iterator[bool]:
    """Ask one question after another; yield whether each answer is right, but not for skips."""
    for number, question in enumerate(sheet.questions, start=1):
        print(*_listing(sheet, question), sep="\n")
        print(*_wrapped(question.prompt, f"{number} of {len(sheet.questions)}. "), sep="\n")
        for letter, option in zip(LETTERS, question.options, strict=False):
            print(*_wrapped(option, f"  {letter}  "), sep="\n")
        answer = _answer(question)
        if answer == STOP:
            return
        key = LETTERS[question.key]
        verdicts = {key: "Right.", SKIP: f"Skipped: the answer is {key}."}
        print("", verdicts.get(answer, f"Not right: the answer is {key}."), sep="\n")
        print(*_explained(question), sep="\n")
        if answer != SKIP:
            yield answer == key


def practice(sheet: Sheet) -> None:
    """Ask the questions of a sheet, explain each, and print the number of right answers."""
    print_any_letter()
    for note in sheet.notes:
        print(*_wrapped(note), sep="\n")
    results, ending = list[bool](), "\n{} of {} right."
    with contextlib.suppress(EOFError, KeyboardInterrupt):
        results.extend(_asked(sheet))
        ending = "{} of {} right. Another seed gives other questions."
    print(ending.format(sum(results), len(results)))
