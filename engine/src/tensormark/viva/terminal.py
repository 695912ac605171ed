"""Practice on a terminal: one question at a time, explained as soon as it is answered."""

import contextlib
import sys
import textwrap
from collections.abc import Iterator

from tensormark.reports.text import print_any_letter, visible
from tensormark.viva.question import LETTERS, Question, Sheet

WIDTH = 88
MAX_LENGTH = 2000  # characters of a text, and of an answer
TRIES = 20  # invalid answers before a question is skipped
ASK = "A, B, C or D (Enter skips, q stops): "
STOP = "Q"
SKIP = ""


def say(text: str, indent: str = "") -> None:
    """Print a text, wrapped."""
    rest = " " * len(indent)
    shown = visible(text, MAX_LENGTH)
    print(textwrap.fill(shown, WIDTH, initial_indent=indent, subsequent_indent=rest))


def show(sheet: Sheet, question: Question) -> None:
    """Print the function that a question is about, with an arrow at its line."""
    listing = next(each for each in sheet.listings if each.name == question.function)
    print(f"{visible(listing.name)} in {visible(listing.file)}")
    for number, line in listing.lines:
        print(f" {'>' if number == question.line else ' '} {number:>5}  {visible(line)}".rstrip())
    print()


def answer_to(question: Question) -> str:
    """Return the letter of an option, SKIP or STOP.

    Raises:
        EOFError: there is no more input.
    """
    for _ in range(TRIES):
        print(ASK, end="", flush=True)
        line = sys.stdin.readline(MAX_LENGTH)
        if not sys.stdin.isatty():
            print()
        if not line:
            raise EOFError
        answer = line.strip().upper()
        if answer in (STOP, SKIP) or answer in [*LETTERS]:
            return answer
        print(f"{visible(answer, 20)!r} is not one of the answers.")
    return SKIP


def asked(sheet: Sheet) -> Iterator[bool]:
    """Ask one question after another; yield whether each answer is right, but not for skips."""
    for number, question in enumerate(sheet.questions, start=1):
        show(sheet, question)
        say(question.prompt, f"{number} of {len(sheet.questions)}. ")
        if question.code:
            print(f"\n        {visible(question.code)}\n")
        for letter, option in zip(LETTERS, question.options, strict=False):
            say(option, f"  {letter}  ")
        answer = answer_to(question)
        if answer == STOP:
            return
        key = LETTERS[question.key]
        verdicts = {key: "Right.", SKIP: f"Skipped: the answer is {key}."}
        print(f"\n{verdicts.get(answer, f'Not right: the answer is {key}.')}")
        for letter, reason in zip(LETTERS, question.reasons, strict=False):
            if reason:
                say(reason, f"    {letter}: ")
        print()
        if answer != SKIP:
            yield answer == key


def practice(sheet: Sheet) -> None:
    """Ask the questions of a sheet, explain each, and print the number of right answers."""
    print_any_letter()
    for text in (*sheet.about, "« and » enclose what would be different."):
        say(text)
    print()
    results = list[bool]()
    ending = ""
    with contextlib.suppress(EOFError, KeyboardInterrupt):
        results.extend(asked(sheet))
        ending = " Another seed gives other questions."
    print(f"{sum(results)} of {len(results)} right.{ending}")
