"""The combination of inputs that determines a folder's results: whose hand-ins, and how graded.

A folder of results belongs to one combination. A run with a different one is refused before it
reads or writes anything, so that neither the class nor its grading changes silently.
"""

import argparse
import dataclasses
import datetime
import json
import os
import shlex
from pathlib import Path

from tensormark.classroom.jobs.parcel import checkpoint_digest
from tensormark.classroom.jobs.store import Store
from tensormark.classroom.options import parser
from tensormark.classroom.remembered import remembered
from tensormark.files import free_path
from tensormark.intake.submission import SubmissionError
from tensormark.references import References, ReferencesError
from tensormark.reports.text import points
from tensormark.sandbox.interface import PROCESS, printable
from tensormark.settings import references_for
from tensormark.usage import command, option

SETTING = "combination"
# the options of `tensormark class`, in the order in which a command gives them
OPTIONS = (
    *("submissions", "references", "checkpoint", "check", "tier", "budget", "training_times"),
    *("out", "roster", "deadline", "late", "adjustments", "rule", "written"),
    *("viva", "answers", "canvas", "column", "last", "scheduler", "workers"),
)


@dataclasses.dataclass(frozen=True)
class Combination:
    """The inputs that determine results; None where an older version did not record them.

    Attributes:
        submissions: the folder.
        references: their digest; place: their folder.
        checkpoint: its digest; weights: its folder, if there is one.
        tier: "" if it is yet to be chosen.
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
        """Return the names of the options in which another combination differs."""
        pairs = (
            ("submissions", self.submissions, other.submissions),
            ("references", self.references, other.references),
            ("checkpoint", self.checkpoint, other.checkpoint),
            ("check", self.mode, other.mode),
            ("tier", self.tier, other.tier),
            ("budget", self.budget, other.budget),
            ("training-times", self.training_times, other.training_times),
        )
        return [name for name, own, others in pairs if own != others and None not in (own, others)]

    def has_same_references(self) -> bool:
        """Say whether its references are still unchanged in their folder."""
        try:
            return self.references == References(self.place).digest
        except ReferencesError:
            return False


def _requested(options: argparse.Namespace, references: References, store: Store) -> Combination:
    """Return the combination of a command; by default, the tier is that of earlier runs."""
    return Combination(
        submissions=os.path.realpath(options.submissions),
        references=references.digest,
        private=references.private,
        place=os.path.abspath(references.folder),
        checkpoint=checkpoint_digest(references),
        weights=os.path.abspath(options.checkpoint) if options.checkpoint else "",
        mode="check" if options.check else "grade",
        tier=options.tier or store.setting("tier"),
        budget=options.budget,
        training_times=options.training_times,
    )


def _stored(store: Store) -> Combination | None:
    query = "SELECT reference, checkpoint, mode, tier FROM attempt ORDER BY id DESC LIMIT 1"
    if not (rows := store.rows(query)):
        return None
    if text := store.setting(SETTING):
        return Combination(**json.loads(text))
    reference, checkpoint, mode, tier = rows[0]
    folder = remembered(store).get("submissions")
    return Combination(folder, reference, None, "", checkpoint, "", mode, tier, None, None)


def keep(combination: Combination, tier: str, store: Store) -> None:
    """Store a combination for later runs."""
    whole = dataclasses.replace(combination, tier=tier)
    store.choose(SETTING, json.dumps(dataclasses.asdict(whole)))


def _argument(value: object) -> str | bool:
    """Return an option's value as typed on a command line; True for a flag."""
    if value is True:
        return True
    if isinstance(value, float):
        return points(value)
    text = value.isoformat() if isinstance(value, datetime.datetime) else str(value)
    return shlex.quote(printable(text))


def _command_line(folder: Path, options: argparse.Namespace, **others: object) -> str:
    """Return the command line for these options, some of them replaced by `others`."""
    values = vars(options) | others
    defaults = vars(parser(folder).parse_args(["."]))
    defaults["references"] = references_for(folder, values["checkpoint"])
    given = {"submissions": values["submissions"]}  # first, and never left out
    given |= {name: values[name] for name in OPTIONS if values[name] != defaults[name]}
    return command("class", **{name: _argument(value) for name, value in given.items()})


def _how_to_continue(folder: Path, options: argparse.Namespace, before: Combination) -> str:
    if before.place and not before.has_same_references():
        return f"that run cannot continue, as its references are no longer in {before.place}"
    values: dict[str, object] = {
        "submissions": before.submissions,
        "references": Path(before.place) if before.place else None,
        "checkpoint": Path(before.weights) if before.weights else None,
        "check": before.mode == "check",
        "budget": before.budget,
        "training_times": before.training_times,
    }
    others = {name: value for name, value in values.items() if value is not None}
    others["tier"] = before.tier if before.tier == PROCESS else None  # the default keeps any other
    return f"to continue that run: {_command_line(folder, options, **others)}"


def checked(
    folder: Path, options: argparse.Namespace, references: References, store: Store
) -> tuple[Combination, bool]:
    """Return the combination of a command, and whether it replaces the stored one.

    Raises:
        SubmissionError: the folder has results of another combination, and there is no --force.
    """
    before, now = _stored(store), _requested(options, references, store)
    differing = before.differs(now) if before is not None else []
    if before is None or not differing or options.force:
        return now, bool(differing)
    names = [option(name).removesuffix("=") for name in differing]
    kinds = {True: "private", False: "public"}
    if before.private in kinds and before.private != now.private:
        names[differing.index("references")] += f" ({kinds[bool(before.private)]})"
    fault = f"{option('out', options.out)}: holds results with different {', '.join(names)}"
    advice, force = _how_to_continue(folder, options, before), option("force", True)
    if options.only is not None:
        raise SubmissionError(
            f"{fault}; {advice} {option('only', shlex.quote(options.only))}; {force} compares "
            "anyway, and leaves the gradebook as it is"
        )
    restart = _command_line(folder, options, out=free_path(options.out, first=2))
    raise SubmissionError(
        f"{fault}; {advice}; to start over: {restart} (or {force}, which first moves the gradebook "
        f"and the feedback there to a folder in {options.out})"
    )
