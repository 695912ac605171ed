"""What decides the results in OUT=: whose hand-ins, and how they are graded.

A folder of results belongs to one combination. A run with another one is refused before it reads
or writes anything, so that neither a class nor the way it is graded changes without a word.
"""

import argparse
import dataclasses
import datetime
import json
import os
import shlex
from pathlib import Path

from grader.intake.submission import SubmissionError
from grader.references import References, ReferencesError
from grader.reports.text import points
from grader.sandbox.interface import PROCESS, printable
from grader.settings import references_for
from instructor.course.options import parser
from instructor.course.parcel import checkpoint_digest
from instructor.course.remembered import remembered
from instructor.course.store import Store

SETTING = "combination"
# the options of `make class`, in the order in which a command gives them
OPTIONS = (
    *("submissions", "references", "checkpoint", "check", "tier", "budget", "training_times"),
    *("out", "roster", "deadline", "late", "canvas", "column", "scheduler", "workers"),
)


@dataclasses.dataclass(frozen=True)
class Combination:
    """What decides results; None where an older version has not kept it.

    Attributes:
        submissions: the folder.
        references: their digest; place: their folder.
        checkpoint: its digest; weights: its folder.
        tier: "" if it is still to be chosen.
    """

    submissions: str | None
    references: str | None
    private: bool | None
    place: str
    checkpoint: str | None
    weights: str
    mode: str | None
    tier: str | None
    budget: float | None
    training_times: float | None

    def differs(self, other: "Combination") -> list[str]:
        """Return the names of the options in which another one differs."""
        pairs = (
            ("SUBMISSIONS", self.submissions, other.submissions),
            ("REFERENCES", self.references, other.references),
            ("CHECKPOINT", self.checkpoint, other.checkpoint),
            ("CHECK", self.mode, other.mode),
            ("TIER", self.tier, other.tier),
            ("BUDGET", self.budget, other.budget),
            ("TRAINING_TIMES", self.training_times, other.training_times),
        )
        return [name for name, one, two in pairs if one != two and None not in (one, two)]

    def still_there(self) -> bool:
        """Say whether its references are as they were."""
        try:
            return self.references == References(self.place).digest
        except ReferencesError:
            return False


def asked_for(options: argparse.Namespace, references: References, store: Store) -> Combination:
    """Return what a command asks for; the tier is that of earlier runs unless it is given."""
    return Combination(
        submissions=os.path.realpath(options.submissions),
        references=references.digest,
        private=references.private,
        place=os.path.abspath(references.folder),
        checkpoint=checkpoint_digest(references),
        weights=os.path.abspath(options.checkpoint),
        mode="check" if options.check else "grade",
        tier=options.tier or store.setting("tier"),
        budget=options.budget,
        training_times=options.training_times,
    )


def kept(store: Store) -> Combination | None:
    """Return what the results in a store were found with; None if there are none."""
    query = "SELECT reference, checkpoint, mode, tier FROM attempt ORDER BY id DESC LIMIT 1"
    if not (rows := store.rows(query)):
        return None
    if text := store.setting(SETTING):
        return Combination(**json.loads(text))
    reference, checkpoint, mode, tier = rows[0]
    folder = remembered(store).get("submissions")
    return Combination(folder, reference, None, "", checkpoint, "", mode, tier, None, None)


def keep(combination: Combination, tier: str, store: Store) -> None:
    """Keep a combination for later runs."""
    whole = dataclasses.replace(combination, tier=tier)
    store.choose(SETTING, json.dumps(dataclasses.asdict(whole)))


def command(options: argparse.Namespace, **others: object) -> str:
    """Return the command that these options are given by, with others in place of some."""
    found = vars(options) | others
    usual = vars(parser().parse_args(["."]))
    usual["references"] = references_for(found["checkpoint"])
    given = {name: found[name] for name in OPTIONS if found[name] != usual[name]}
    if found["submissions"] == usual["submissions"]:
        given = {"submissions": found["submissions"]} | given
    words = (f"{name.upper()}={shlex.quote(in_words(value))}" for name, value in given.items())
    return " ".join(["make class", *words])


def in_words(value: object) -> str:
    """Return an option's value as people type it."""
    if isinstance(value, float):
        return points(value)
    text = value.isoformat() if isinstance(value, datetime.datetime) else str(value)
    return "1" if value is True else printable(text)


def going_on(options: argparse.Namespace, before: Combination) -> str:
    """Say how to go on with what was kept."""
    if before.place and not before.still_there():
        return f"what {before.place} held then is no longer there, so that cannot go on"
    known: dict[str, object] = {
        "submissions": before.submissions,
        "references": Path(before.place) if before.place else None,
        "checkpoint": Path(before.weights) if before.weights else None,
        "check": before.mode == "check",
        "budget": before.budget,
        "training_times": before.training_times,
    }
    others = {name: value for name, value in known.items() if value is not None}
    others["tier"] = before.tier if before.tier == PROCESS else None  # others are kept anyway
    return f"to go on with that: {command(options, **others)}"


def beside(out: Path) -> Path:
    """Return the name of a folder of results that is free."""
    number = 2
    while os.path.lexists(f"{out}-{number}"):
        number += 1
    return Path(f"{out}-{number}")


def checked(
    options: argparse.Namespace, references: References, store: Store
) -> tuple[Combination, bool]:
    """Return what a command asks for, and whether it is to replace what is kept, which it says.

    Raises:
        SubmissionError: there are results of something else, and no FORCE=1.
    """
    before, now = kept(store), asked_for(options, references, store)
    other = before.differs(now) if before is not None else []
    if before is None or not other or options.force:
        return now, bool(other)
    names = {True: "private", False: "public"}
    if before.private in names and before.private != now.private:
        other[other.index("REFERENCES")] += f" ({names[bool(before.private)]})"
    held = f"OUT={options.out}: holds results with another {', '.join(other)}"
    if options.only is not None:
        raise SubmissionError(
            f"{held}; {going_on(options, before)} ONLY={shlex.quote(options.only)}; FORCE=1 "
            "compares all the same, and leaves the gradebook as it is"
        )
    raise SubmissionError(
        f"{held}; {going_on(options, before)}; to begin anew: "
        f"{command(options, out=beside(options.out))} (or FORCE=1, which first moves the gradebook "
        f"and the feedback there to a folder in {options.out})"
    )
