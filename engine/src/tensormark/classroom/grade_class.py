"""Grade a class: `tensormark class SUBMISSIONS`.

Its options are in OUT/class.toml, which the first run writes. Exit status: 0 if everything was
graded, whatever its score; 2 if there is nothing to grade, an option is invalid, or the run cannot
continue; 3 if something could not be graded; 130 if the run was interrupted. After each the same
command continues where it stopped.
"""

import argparse
import contextlib
import dataclasses
import functools
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tqdm import tqdm

from tensormark import settings, usage
from tensormark.authoring.course import open_course, require_current
from tensormark.classroom import config, counts, entry, feedback, gradebook, returned, sheets, teach
from tensormark.classroom.entry import Entry, legible, number_of
from tensormark.classroom.find import find, handed_in, note_late, note_status, real
from tensormark.classroom.jobs import (
    Job,
    JobFailed,
    Result,
    Terms,
    answers,
    complete,
    facts,
    named,
    workers,
)
from tensormark.classroom.leaderboard import PAGE, TABLE, Standings
from tensormark.classroom.people import FileError
from tensormark.classroom.platforms import FOLDER
from tensormark.classroom.store import Store
from tensormark.exercise import Assignment
from tensormark.files import expanded, for_staff, is_folder, sources_in, write_whole
from tensormark.folder import open_assignment
from tensormark.intake.given_files import GivenFiles
from tensormark.intake.submission import SubmissionError, read_parts
from tensormark.references import References
from tensormark.reports.terminal import is_terminal
from tensormark.reports.text import escape_unencodable_output, visible
from tensormark.sandbox.tiers import CONTAINED, PROCESS
from tensormark.strictest import strictest_isolating
from tensormark.usage import UserError, option
from tensormark.viva.subject import subjects_of

MOST_WORKERS = 1024
LONGEST = 500  # characters of a line there
PRIVATE = "reference_outputs/private"  # where private references are usually kept
PUBLIC = "graded on the public inputs, which every student has; for marks, give {}"
NO_TIER = "the tier process isolates nothing: submissions can read and change everything you can"
LINES = 60.0  # seconds between lines of progress where there is no terminal
CODE = "code"  # what was graded, as text that a browser shows and does not run
# what a run writes anew each time; class.toml and adjustments.csv are staff's
WRITTEN = (
    returned.ZIP,  # before the reports: by these, the run after an interruption knows whose are new
    returned.MARKS,
    gradebook.TABLE,
    gradebook.PAGE,
    teach.PAGE,
    PAGE,
    TABLE,
    feedback.FOLDER,
    CODE,
    sheets.FOLDER,
)
NEW = ".new"  # the folder in OUT in which it is made


def _submissions(text: str) -> Path:
    """Return the folder of the submissions.

    Raises:
        SubmissionError: it is not a folder.
    """
    path = Path(expanded(text))
    if not text or not path.is_dir():
        fix = "name the folder with the unpacked submissions"
        raise SubmissionError(f"{option('submissions', text)}: there is no such folder; {fix}")
    return path


def _parse(folder: Path, name: str, arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line.

    Raises:
        SubmissionError: an option is invalid.
    """
    command_line = usage.parser(name, "Grade a class; OUT/class.toml has more options.")
    add = command_line.add_argument
    add("submissions", type=_submissions, help="the folder with the submissions")
    add("--references", type=Path, help="folder with the recorded answers")
    results = "folder of the class's results (default: %(default)s)"
    add("--out", type=Path, default=folder / "class", help=results)
    add("--check", action="store_true", help="skip the training")
    add("--scheduler", default="", help="a Dask scheduler, such as tcp://host:8786")
    cores = len(os.sched_getaffinity(0))
    about = "processes on this machine, without a scheduler (default: %(default)s)"
    worker_count = functools.partial(settings.whole_number, "workers", MOST_WORKERS)
    add("--workers", type=worker_count, default=cores, help=about)
    options = command_line.parse_args(arguments)
    if real(options.out).is_relative_to(real(options.submissions)):
        out = option("out", options.out)
        raise SubmissionError(f"{out}: must not be inside the folder with the submissions")
    return options


def _print(lines: Iterable[str]) -> None:
    """Print lines with names and other texts of students, which could act on a terminal."""
    for line in lines:
        print(visible(line, LONGEST), flush=True)


def _counted(entries: Sequence[Entry]) -> str:
    """Return how many students of each kind there are."""
    found = Counter(each.kind for each in entries)
    kinds = [kind for kind in entry.KINDS if found[kind] or kind == entry.GRADED]
    parts = [f"{found[kind]} {kind}" for kind in kinds]
    people = number_of(len(entries) - found[entry.NOBODYS], "student")
    return f"{people}: {', '.join(parts)}"


def _listed(entries: Sequence[Entry]) -> list[str]:
    """Return a line for each student without a result to be content with."""
    lines: list[str] = []
    others = (entry.UNIMPORTABLE, entry.EMPTY, entry.UNREAD, entry.NOBODYS, entry.NOT_IN)
    for kind in (*entry.TO_RETRY, *others):
        about = []
        for each in entries:
            if each.kind == kind:
                says_no_more = each.why_ungraded in ("", kind)
                why = each.notes[:1] if says_no_more else [each.why_ungraded]
                about.append(": ".join([each.label, *why]))
        lines += returned.listed("students", kind, about)
    return lines


class Class:
    """A class that is being graded."""

    def __init__(self, options: argparse.Namespace, assignment: Assignment, store: Store) -> None:
        """Read the options, and what was handed in.

        Raises:
            UserError: an option or a list cannot be used, or there is nothing to grade.
        """
        self.options = options
        self.assignment = assignment
        self.store = store
        self.out: Path = options.out
        self.config = config.read(self.out / config.FILE)
        checkpoint = settings.shipped(assignment.folder)
        if self.config.checkpoint:
            checkpoint = Path(self.config.checkpoint)
        self.references = References(
            options.references or settings.recorded_for(assignment.folder, checkpoint),
            assignment.references,
        )
        self.course = open_course(assignment)
        require_current(self.course, self.references)
        if not self.references.private:
            print(PUBLIC.format(option("references", PRIVATE)), flush=True)
        self._find()
        self.column = None
        try:
            self.column = returned.column_of(self.found, self.config.column)
        except FileError as error:
            if self.config.column:
                raise
            self.warnings.append(f"no {returned.MARKS}: {error}")
        self.asked = self._asked()
        bonus = self.config.leaderboard_bonus
        self.standings = Standings(assignment, bonus) if self.config.leaderboard or bonus else None
        self.terms = self._terms(checkpoint)
        self._say_what_was_found()
        config.read_adjustments(self.out / config.ADJUSTMENTS, self.entries)

    def _find(self) -> None:
        """Find and read what everybody has handed in.

        Raises:
            UserError: the folder or the list cannot be used, or there is nothing to grade.
        """
        folder: Path = self.options.submissions
        class_list = Path(expanded(self.config.list)) if self.config.list else None
        for path in filter(None, (folder, class_list)):
            for name in (*WRITTEN, NEW):
                written = self.out / name
                if real(path).is_relative_to(real(written)):
                    why = f"each run writes {written} anew; move it elsewhere"
                    raise SubmissionError(f"{path}: {why}")
        editable = self.assignment.editable
        given = GivenFiles(self.assignment, self.references.manifest.get("starter", {}))
        self.found = find(
            folder, editable, class_list, self.config.platform, given.digests, self.config.column
        )
        self.entries = self.found.entries
        for each in self.entries:
            if each.path is not None and not each.problem:
                try:
                    read = read_parts(
                        each.parts, editable, given.digests, self.assignment.main_file
                    )
                    each.problem = read.faults.get(editable[0].removesuffix(".py"), "")
                    each.submission = None if each.problem else dataclasses.replace(read, stamps={})
                except SubmissionError as error:
                    each.problem = str(error)
        deadline = self.config.deadline
        self.warnings = [
            *self.found.doubts,
            *self.found.warnings,
            *note_status(self.found),
            *(note_late(self.found, deadline) if deadline else ()),
        ]
        if not any(each.submission for each in self.entries):
            _print(_listed(self.entries))
            advice = ""
            first, *others = handed_in(folder)
            if is_folder(first) and not others:
                advice = f"; if the submissions are in {legible(str(first))}, name that folder"
            raise SubmissionError(f"there is nothing to grade in {folder}{advice}")

    def _terms(self, checkpoint: Path | None) -> Terms:
        """Return how this run grades.

        Raises:
            SubmissionError: no tier on this machine isolates submissions.
        """
        folder = self.assignment.folder
        own = settings.Settings.of(
            folder,
            references=self.references.folder.resolve(),
            checkpoint=checkpoint and checkpoint.resolve(),
            budget=float(self.config.budget),
            training_times=float(self.config.training_times),
        )
        tier = self.config.tier or (CONTAINED if self.options.scheduler else "")
        if not tier:
            tier = strictest_isolating(self.assignment, own, 'tier = "process" in class.toml')
        own = dataclasses.replace(own, tier=tier)
        return Terms(folder, own, self.options.check, facts(folder, own.references))

    def _asked(self) -> list[Entry]:
        """Return the students who get questions."""
        if not self.config.viva:
            return []
        if not subjects_of(self.assignment.folder):
            raise SubmissionError("viva in class.toml: this assignment has no grader/viva.py")
        where = "viva_students in class.toml"
        names = self.config.viva_students
        chosen = [config.student_named(where, name, self.entries) for name in names]
        return chosen or self.entries

    def _say_what_was_found(self) -> None:
        """Say it, and write class.toml if there is none."""
        platform = self.found.platform.name
        known = platform if self.found.platform is not FOLDER else ""
        path = self.out / config.FILE
        tier = self.terms.settings.tier
        if config.write_first(path, known, tier):
            print(f"options of this class: {path}")
        table = self.found.table
        who = f"list: {table.path} ({self.found.listed_by.name})" if table else "no list"
        print(f"platform: {platform}; {who}", flush=True)
        _print(f"warning: {line}" for line in self.warnings)
        if tier == PROCESS:
            print(NO_TIER, file=sys.stderr)

    # --- doing ----------------------------------------------------------------------------

    def _results(
        self, jobs: Mapping[Entry, Job], what: str, before: str = ""
    ) -> Iterator[tuple[Entry, Result | None, str]]:
        """Do and keep what was not done before; yield all results, and why there is none.

        Args:
            what: to print, after the number of jobs; before: after that of those done before.

        Raises:
            UserError: no worker can do any.
        """
        keys = {each: job.key(self.terms) for each, job in jobs.items()}
        equal = {key: jobs[each] for each, key in keys.items()}
        wanted = {key: job for key, job in equal.items() if not complete(self.store.get(key))}
        if before and len(wanted) < len(equal):
            print(f"{len(equal) - len(wanted)} {before}", flush=True)
        faults = self._do(wanted, what) if wanted else {}
        for each, key in keys.items():
            yield each, self.store.get(key), faults.get(key, "")

    def _do(self, jobs: Mapping[str, Job], what: str) -> dict[str, str]:
        """Have jobs done, and keep their results; return why some have none, by key.

        Raises:
            UserError: no worker can do any.
        """
        where = self.options.scheduler or f"{self.options.workers} on this machine"
        tier = self.terms.settings.tier
        print(f"{len(jobs)} {what}, tier {tier}, workers: {where}", flush=True)
        seconds = 0.1 if is_terminal(sys.stderr) else LINES
        faults = {}
        count = min(self.options.workers, len(jobs))
        with (
            contextlib.closing(workers(self.options.scheduler, count)) as opened,
            tqdm(total=len(jobs), mininterval=seconds, miniters=1, dynamic_ncols=True) as bar,
        ):
            try:
                for key, answer in answers(opened, jobs, self.terms):
                    if isinstance(answer, JobFailed):
                        faults[key] = answer.reason
                    else:
                        self.store.keep(key, answer)
                    bar.update()
            except KeyboardInterrupt:
                print("stopped\nnext: the same command continues where it stopped", flush=True)
                os._exit(130)  # workers end with this process, and the store needs no closing
        return faults

    def grade(self) -> None:
        """Grade what has no complete result yet, and fill in the entries."""
        jobs = {each: Job(each.submission) for each in self.entries if each.submission}
        for each, result, fault in self._results(jobs, "to grade", "graded before"):
            each.problem = fault
            if result is not None and each.path is not None:
                each.result = named(result, each.path)

    def ask(self) -> None:
        """Have questions made for the students who get some, and note them."""
        secret = self.store.secret()
        jobs = {}
        for each in self.asked:
            job = sheets.job_of(each, self.config.viva, secret, self.assignment)
            if job is None:
                each.sheet_note = sheets.NOTHING_RIGHT if each.result else each.kind
            else:
                jobs[each] = job
        for each, result, fault in self._results(jobs, "to make questions on"):
            sheets.note_sheet(each, result or {"note": f"not made: {fault}"})

    # --- what is written ------------------------------------------------------------------

    def write(self) -> list[str]:
        """Write everything anew, and only then put it in the place of what was there."""
        new = self.out / NEW
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
        lines = []
        if self.standings:
            lines.append(self.standings.write(self.entries, self.store.secret(), new))
        lines += returned.limit(self.entries, self.column, self.config.limits)
        common = counts.note_flags(self.entries)
        counts.note_equal(self.entries, sources_in(self.assignment.starter))
        says = {(each.exercise, each.id): each.says for each in self.course.variants}
        feedback.write(self.entries, new, self.out)
        for each in self.entries:
            if each.submission and each.folder:
                text = "\n".join(each.submission.sources.values())
                write_whole(new / CODE / f"{each.folder}.txt", f"\ufeff{text}")
        write_whole(new / gradebook.TABLE, gradebook.table(self.entries))
        write_whole(new / gradebook.PAGE, gradebook.page(self.entries, says, common))
        write_whole(new / teach.PAGE, teach.page(self.entries, says, self.course))
        lines += returned.write(self.found, self.column, self.config.feedback, new, self.out)
        if self.config.viva:
            lines += sheets.write(self.asked, new)
        for name in WRITTEN:
            old = self.out / name
            if os.path.lexists(old):
                os.rename(old, new / f"old {name}")
            if (new / name).exists():
                os.rename(new / name, old)
        shutil.rmtree(new)
        return lines

    def report(self) -> int:
        """Write the results, print a summary, and return the exit status."""
        try:
            lines = self.write()
        except OSError as error:
            path = error.filename or self.out
            reason = error.strerror or error
            raise UserError(
                f"{option('out', self.out)}: results are kept, but {path} cannot be written "
                f"({reason}); fix that, and run the same command again"
            ) from error
        given = returned.listed("list", "decided by its column `file`", self.found.given)
        _print([_counted(self.entries), *_listed(self.entries), *given, *lines])
        if any(each.kind in entry.TO_RETRY for each in self.entries):
            print("next: run the same command again, which retries what could not be graded")
            return 3
        print(f"next: open {self.out / gradebook.PAGE}")
        return 0


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Grade the submissions that the command line names; return the exit status."""
    escape_unencodable_output()
    options = _parse(folder, name, arguments)
    assignment = open_assignment(folder)
    with for_staff(), Store(options.out) as store:
        room = Class(options, assignment, store)
        room.grade()
        if room.config.viva:
            room.ask()
        return room.report()
