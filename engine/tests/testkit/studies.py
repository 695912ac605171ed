"""Studies of an assignment's functions, and sheets on them, in real sandboxes."""

import contextlib
import dataclasses

from tensormark.folder import open_assignment
from tensormark.grading import Grading
from tensormark.intake.submission import Submission
from tensormark.sandbox.tiers import PROCESS
from tensormark.settings import Settings
from tensormark.viva.draw import opened, questions
from tensormark.viva.question import Listing, Question, Sheet
from tensormark.viva.source import Change
from tensormark.viva.study import Study
from tensormark.viva.subject import subjects_of
from testkit import sample, toy


@contextlib.contextmanager
def study_of(folder, text, exercise="conv"):
    """Study the function of an exercise in a file with this text."""
    grading = Grading(Settings.of(folder), open_assignment(folder))
    (subject,) = (each for each in subjects_of(folder) if each.exercise == exercise)
    submission = Submission("mine", {subject.module: text}, {})
    with opened(grading, submission, [subject]) as copies:
        yield Study(subject, grading.assignment, copies)


def check_words(study):
    """Check in each world that only facts that can be lost show in the function's results."""
    for world in study.worlds:
        for place, fact in enumerate(study.subject.facts):
            assert study.shows(world, place, world.own) is bool(fact.lost), fact


def sheet_of(folder, sources, seed="7", number=5, right=tuple(toy.EXERCISES), tier=PROCESS):
    """Draw a sheet on a submission, or on a single file for the toy assignment."""
    sources = {"detector": sources} if isinstance(sources, str) else sources
    grading = Grading(Settings.of(folder, tier=tier), open_assignment(folder))
    return questions(grading, Submission("mine", sources, {}), right, seed, number)


def change_of(study, old, new):
    """Return the change that replaces one text with another."""
    source = study.source
    (number,) = (n for n, line in source.listing() if old in line)
    statement = source.statement_at(number)
    return Change(statement, number, "by hand", source.lines[number - 1].replace(old, new))


def small_sheet():
    """Return a sheet of two questions, written by hand."""
    lines = ((3, "def mix(self, key, mask):"), (5, "    return softmax(key + mask)  # <b>"))
    first = Question(
        family="effect",
        function="Mixer.mix",
        line=5,
        prompt="What would `mix` return?",
        code="return softmax(key«»)",
        options=("wider", "`mask`", "nothing", "the same"),
        key=0,
        reason="`key` was run.",
        ask_next="Why?",
    )
    other = dataclasses.replace(first, code="return softmax(«mask + key»)", key=1)
    listings = (Listing("Mixer.mix", "model.py", lines),)
    return Sheet("toy", "ada", "7", listings, (first, other), ("About `mix`.",), ("A note.",))


def with_text(sheet, change):
    """Return a sheet with every text changed, names too: equal texts stay equal."""
    return Sheet.from_json(sample.with_text(dataclasses.asdict(sheet), change, kept=()))
