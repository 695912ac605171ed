"""Grade a class: `tensormark class SUBMISSIONS`.

Its options are in OUT/class.toml, which the first run writes. Exit status: 0 if everything was
graded, whatever its score; 2 if there is nothing to grade, an option is invalid, or the run cannot
continue; 3 if something could not be graded; 130 if the run was interrupted. After each the same
command continues where it stopped.
"""

import argparse
import functools
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tensormark import settings, usage
from tensormark.authoring.course import open_course
from tensormark.classroom import (
    adjustments,
    config,
    entry,
    feedback,
    gradebook,
    returned,
    sheets,
    teach,
)
from tensormark.classroom.entry import Entry
from tensormark.classroom.find import Found, find, inner_folder, real
from tensormark.classroom.hand_in import number_of
from tensormark.classroom.jobs import Progress, Run, Stop, Stopped, workers
from tensormark.classroom.killed import result_of_killed
from tensormark.classroom.owners import NOT_LISTED
from tensormark.classroom.platforms import FOLDER
from tensormark.classroom.store import Store, only_run
from tensormark.classroom.work import Job, Terms, Work, code, named, versions
from tensormark.classroom.worker import Answer
from tensormark.exercise import Assignment
from tensormark.files import expanded, write_whole
from tensormark.folder import open_assignment
from tensormark.intake.given_files import GivenFiles
from tensormark.intake.submission import SubmissionError
from tensormark.references import References
from tensormark.reports.text import points, print_any_letter
from tensormark.sandbox.interface import CONTAINED, PROCESS, printable
from tensormark.strictest import strictest_isolating
from tensormark.usage import UserError, command, option
from tensormark.viva.subject import subjects_of

MOST_WORKERS = 1024
LISTED = 20  # students of each kind that are named on the terminal
PRIVATE = "reference_outputs/private"  # where private references are usually kept
PUBLIC = "graded on the public inputs, which every student has; for marks, give {}"
NO_TIER = "the tier process isolates nothing: submissions can read and change all that you can"
AGAIN = "the same command continues where it stopped"
# what a run writes anew each time; class.toml and adjustments.csv are staff's
WRITTEN = (
    gradebook.TABLE,
    gradebook.PAGE,
    teach.PAGE,
    feedback.FOLDER,
    sheets.FOLDER,
    "canvas.csv",
    "moodle.csv",
    "canvas-feedback.zip",
    "moodle-feedback.zip",
)
# folders in OUT
NEW = ".new"  # where results are made
OLD = ".old"  # where earlier ones are put aside


def _submissions(name: str, text: str) -> Path:
    """Return the folder of the hand-ins.

    Raises:
        SubmissionError: it is not a folder.
    """
    if not text:
        example = command(name, submissions="dir")
        raise SubmissionError(f"give the folder with the submissions: {example}")
    path = Path(expanded(text))
    argument = option("submissions", text)
    if path.is_file():
        raise SubmissionError(f"{argument}: is a file, not a folder; unpack it and name the folder")
    if not path.is_dir():
        raise SubmissionError(f"{argument}: there is no such folder")
    return path


def parser(folder: Path, name: str = "class") -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    command_line = usage.parser(name, "Grade a class; OUT/class.toml has more options.")
    add = command_line.add_argument
    folder_of = functools.partial(_submissions, name)
    add("submissions", type=folder_of, help="the folder with the submissions")
    add("--references", type=Path, help="folder with the recorded answers")
    results = "folder of the class's results (default: %(default)s)"
    add("--out", type=Path, default=folder / "class", help=results)
    add("--check", action="store_true", help="skip the training")
    add("--only", metavar="STUDENT", help="grade this student again, and say what changed")
    add("--scheduler", default="", help="a Dask scheduler, such as tcp://host:8786")
    cores = len(os.sched_getaffinity(0))
    about = "processes on this machine, without a scheduler (default: %(default)s)"
    worker_count = functools.partial(settings.whole_number, "workers", MOST_WORKERS)
    add("--workers", type=worker_count, default=cores, help=about)
    return command_line


def _read_all(found: Found, given: GivenFiles) -> Iterator[Entry]:
    """Read what everybody has handed in."""
    for hand_in in found.hand_ins:
        if hand_in.path is None:
            yield Entry(hand_in, problem=hand_in.fault)
            continue
        try:
            yield Entry(hand_in, Work.read(hand_in.parts, given))
        except SubmissionError as error:
            yield Entry(hand_in, problem=str(error))


def _says(references: References) -> dict[tuple[str, str], str]:
    """Return descriptions of known mistakes, by the ids of exercise and mistake."""
    return {
        (exercise, name): str(variant["says"])
        for exercise, recorded in references.manifest["exercises"].items()
        for name, variant in recorded.get("variants", {}).items()
        if "says" in variant
    }


class Class:
    """A class that is being graded."""

    def __init__(self, options: argparse.Namespace, assignment: Assignment) -> None:
        """Read the options, and what was handed in.

        Raises:
            UserError: an option or a list cannot be used, or there is nothing to grade.
        """
        self.options = options
        self.assignment = assignment
        self.out: Path = options.out
        self.config = config.read(self.out / config.FILE)
        checkpoint = settings.shipped(assignment.folder)
        if self.config.checkpoint:
            checkpoint = Path(self.config.checkpoint)
        self.references = References(
            options.references or settings.recorded_for(assignment.folder, checkpoint)
        )
        if not self.references.private:
            print(PUBLIC.format(option("references", PRIVATE)), flush=True)
        class_list = Path(expanded(self.config.list)) if self.config.list else None
        folder = options.submissions
        for own in filter(None, (folder, class_list)):
            self._check_kept(own)
        self.found = find(folder, assignment.editable, class_list, self.config.platform)
        self.given = GivenFiles(assignment, self.references.manifest.get("starter", {}))
        self.entries = list(_read_all(self.found, self.given))
        if not any(each.work for each in self.entries):
            print("".join(f"{line}\n" for line in self.listed()), end="")
            advice = inner_folder(self.found, assignment.editable)
            raise SubmissionError(f"there is nothing to grade in {folder}{advice}")
        changes = adjustments.read(self.out / adjustments.FILE, self.found.hand_ins)
        for place, own in changes.items():
            self.entries[place].adjustments = own
        self.asked = self._asked()
        self.only = self._only()
        self.terms = self._terms(checkpoint)
        self._write_config()

    def _terms(self, checkpoint: Path | None) -> Terms:
        """Return how this run grades.

        Raises:
            SubmissionError: no tier on this machine isolates submissions.
        """
        folder = self.assignment.folder
        references = self.references.folder
        tier = self.config.tier or (CONTAINED if self.options.scheduler else "")
        if not tier:
            own = settings.Settings.of(folder, references=references, checkpoint=checkpoint)
            tier = strictest_isolating(self.assignment, own, 'tier = "process" in class.toml')
        return Terms(
            assignment=folder,
            references=references.resolve(),
            checkpoint=checkpoint and checkpoint.resolve(),
            tier=tier,
            check=self.options.check,
            budget=self.config.budget,
            training_times=self.config.training_times,
            code=code(folder),
            recorded=self.references.digest,
            versions=versions(folder),
        )

    def _check_kept(self, path: Path) -> None:
        """Check that something of staff's is not where this run writes.

        Raises:
            SubmissionError: it would be lost.
        """
        for name in (*WRITTEN, NEW, OLD):
            written = self.out / name
            if real(path).is_relative_to(real(written)):
                raise SubmissionError(f"{path}: each run writes {written} anew; move it elsewhere")

    def _asked(self) -> list[Entry]:
        """Return the students who get questions."""
        if not self.config.viva:
            return []
        if not subjects_of(self.assignment.folder):
            raise SubmissionError("viva in class.toml: this assignment has no grader/viva.py")
        if not self.config.viva_students:
            return self.entries
        asked = []
        for name in self.config.viva_students:
            place = adjustments.student_named(name, self.found.hand_ins)
            if place is None:
                fix = "take names from the student column of gradebook.csv"
                what = f"no one student is {printable(name)[:60]!r}"
                raise SubmissionError(f"viva_students in class.toml: {what}; {fix}")
            asked.append(self.entries[place])
        return asked

    def _only(self) -> Entry | None:
        """Return the student who is to be graded again, if one is."""
        name = self.options.only
        if name is None:
            return None
        place = adjustments.student_named(name, self.found.hand_ins)
        if place is None:
            fix = "use a name from the `student` column of gradebook.csv"
            raise SubmissionError(f"{option('only', name)}: no one student has that name; {fix}")
        chosen = self.entries[place]
        if chosen.work is None:
            raise SubmissionError(f"{option('only', name)}: {chosen.without}")
        return chosen

    def _write_config(self) -> None:
        """Write class.toml if there is none, and say what was found."""
        folder = self.options.submissions
        late = sum(each.late for each in self.found.hand_ins)
        platform = self.found.platform.name
        notes = {"platform": f"found by the names in {printable(str(folder))}"}
        if platform == FOLDER.name:  # a list may say otherwise, as GitHub's roster does
            notes["platform"] = "empty: judged by the names in it and by the list"
        if late:
            notes["platform"] += f"; {number_of(late, 'hand-in')} marked late"
        known = "" if platform == FOLDER.name else platform
        values = {"platform": known, "tier": self.terms.tier}
        path = self.out / config.FILE
        if config.write_first(path, values, notes):
            print(f"options of this class: {path}")
        listed = self.found.class_list
        who = f"list: {listed.path} ({self.found.listed_by.name})" if listed else "no list"
        if platform == "gradescope":
            who += ", names from submission_metadata.yml"
        print(f"platform: {platform}; {who}", flush=True)
        for line in self.found.warnings:
            print(f"warning: {printable(line)[:500]}", flush=True)
        if self.terms.tier == PROCESS:
            print(NO_TIER, file=sys.stderr)

    # --- doing ----------------------------------------------------------------------------

    def _do(self, store: Store, jobs: Mapping[str, Job], what: str) -> dict[str, str]:
        """Have jobs done; return why some could not be, by key.

        Raises:
            Stopped: on Ctrl-C. UserError: no worker can do any.
        """
        where = self.options.scheduler or f"{self.options.workers} on this machine"
        print(f"{len(jobs)} {what}, tier {self.terms.tier}, workers: {where}", flush=True)
        keys = {id(job): key for key, job in jobs.items()}
        stop = Stop()
        progress = Progress(len(jobs), "done")

        def keep(job: Job, answer: Answer) -> None:
            earlier = store.get(keys[id(job)])
            if answer.complete or earlier is None or not earlier.complete:
                store.keep(keys[id(job)], answer)

        def blame(job: Job) -> Mapping[str, object]:
            if job.seed:
                return sheets.KILLED
            return result_of_killed(job.work, self.terms, self.references, self.assignment)

        def kind(answer: Answer) -> str:
            if job_is_sheet:
                return "with questions" if "sheet" in answer.result else "without"
            core = [each for each in answer.result["exercises"] if not each["bonus"]]
            passed = all(each["outcome"] == "passed" for each in core)
            return "all passed" if passed else "not all passed"

        job_is_sheet = any(job.seed for job in jobs.values())
        try:
            opened = workers(self.options.scheduler, min(self.options.workers, len(jobs)))
            with stop.on_signals(), opened as executor:
                run = Run(self.terms, executor, keep, blame, progress, kind)
                faults = run.all(list(jobs.values()), stop)
        finally:
            progress.bar.close()
        if stop.asked:
            raise Stopped
        return {keys[number]: fault for number, fault in faults.items()}

    def grade(self, store: Store) -> None:
        """Grade what has no complete result yet, and fill in the entries."""
        keys: dict[str, str] = {}
        jobs: dict[str, Job] = {}
        for each in self.entries:
            if each.work is None:
                continue
            job = Job(each.work)
            key = job.key(self.terms)
            keys[each.hand_in.student] = key
            if self.only is None:
                earlier = store.get(key)
                wanted = earlier is None or not earlier.complete
            else:
                wanted = each is self.only
            if wanted:
                jobs[key] = job
        kept = len(set(keys.values())) - len(jobs)
        if kept and self.only is None:
            print(f"{kept} graded before", flush=True)
        before = store.get(keys[self.only.hand_in.student]) if self.only else None
        faults = self._do(store, jobs, "to grade") if jobs else {}
        for each in self.entries:
            key = keys.get(each.hand_in.student, "")
            answer = store.get(key) if key else None
            if answer is not None and each.hand_in.path is not None:
                each.result = named(answer.result, each.hand_in.path)
            elif key in faults:
                each.problem = faults[key]
        if self.only is not None:
            self._compare(before)

    def _compare(self, before: Answer | None) -> None:
        """Say what differs from a student's earlier result."""
        assert self.only is not None
        name = printable(self.only.hand_in.student)
        after = self.only.result
        if after is None:
            print(f"{name}: could not be graded: {self.only.problem}")
            return
        now = f"{points(after['score'])} / {points(after['max_score'])}"
        if before is None:
            print(f"{name}: {now}; there was no result of the same hand-in before")
            return
        old = {each["id"]: each for each in before.result["exercises"]}
        lines = [
            f"  {each['id']}: {old[each['id']]['outcome']}, now {each['outcome']}"
            for each in after["exercises"]
            if each["id"] in old and old[each["id"]]["outcome"] != each["outcome"]
        ]
        was = f"{points(before.result['score'])} / {points(before.result['max_score'])}"
        differ = "these differ:" if lines else "no exercise differs"
        print("\n".join([f"{name}: {was} before, {now} now; {differ}", *lines]))

    def ask(self, store: Store) -> None:
        """Have questions made for the students who get some, and note them."""
        secret = store.secret()
        jobs: dict[str, Job] = {}
        keys: dict[str, str] = {}
        for each in self.asked:
            job = sheets.job_of(each, self.config.viva, secret, self.assignment)
            if job is None:
                each.sheet_note = sheets.NOTHING_RIGHT if each.result else each.kind
                continue
            key = keys[each.hand_in.student] = job.key(self.terms)
            if store.get(key) is None:
                jobs[key] = job
        faults = self._do(store, jobs, "to make questions on") if jobs else {}
        for each in self.asked:
            own = keys.get(each.hand_in.student)
            if own is not None:
                sheets.note_sheet(each, store.get(own), faults.get(own, ""))

    # --- what is written ------------------------------------------------------------------

    def counted(self) -> str:
        """Return how many students of each kind there are."""
        counts = [(sum(e.kind == kind for e in self.entries), kind) for kind in entry.KINDS]
        parts = [f"{count} {kind}" for count, kind in counts if count or kind == entry.GRADED]
        return f"{number_of(len(self.entries), 'student')}: {', '.join(parts)}"

    def listed(self) -> Iterator[str]:
        """Yield a line for each student without a complete result, or not on the list."""
        for kind in (*entry.OURS, entry.UNREAD, entry.NOT_IN):
            own = [each for each in self.entries if each.kind == kind]
            for each in own[:LISTED]:
                why = "" if kind == entry.NOT_IN else f": {printable(each.without)[:200]}"
                yield f"  {kind}: {printable(each.hand_in.called)}{why}"
            if len(own) > LISTED:
                yield f"  {kind}: and {len(own) - LISTED} more"
        strangers = [each for each in self.entries if NOT_LISTED in each.hand_in.notes]
        for each in strangers[:LISTED]:
            yield f"  {NOT_LISTED}: {printable(each.hand_in.called)}"

    def write(self) -> list[str]:
        """Write everything anew, and only then put it in the place of what was there."""
        new = self.out / NEW
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
        common = entry.note_flags(self.entries)
        starter = self.assignment.starter
        given = {
            name.removesuffix(".py"): (starter / name).read_text(encoding="utf-8")
            for name in self.assignment.editable
        }
        entry.note_equal(self.entries, given)
        says = _says(self.references)
        feedback.write(self.entries, new)
        write_whole(new / gradebook.TABLE, gradebook.table(self.entries))
        write_whole(new / gradebook.PAGE, gradebook.page(self.entries, says, common))
        write_whole(new / teach.PAGE, teach.page(self.entries, says, open_course(self.assignment)))
        lines = returned.write(self.entries, self.found, self.config.column, new)
        if self.config.viva:
            lines += sheets.write(self.asked, new)
        self._replace(new)
        return lines

    def _replace(self, new: Path) -> None:
        old = self.out / OLD
        shutil.rmtree(old, ignore_errors=True)
        old.mkdir()
        for name in WRITTEN:
            if os.path.lexists(self.out / name):
                os.rename(self.out / name, old / name)
            if (new / name).exists():
                os.rename(new / name, self.out / name)
        shutil.rmtree(old)
        shutil.rmtree(new)

    def report(self) -> int:
        """Write the results, print a summary, and return the exit status."""
        try:
            lines = self.write()
        except OSError as error:
            path = error.filename or self.out
            reason = error.strerror or error
            raise UserError(
                f"{option('out', self.out)}: results are kept, but {path} cannot be written "
                f"({reason}); mend that, and run the same command again"
            ) from error
        print("\n".join([self.counted(), *self.listed(), *lines]))
        if any(each.kind in entry.OURS for each in self.entries):
            print("next: run the same command again, which retries what could not be graded")
            return 3
        print(f"next: open {self.out / gradebook.PAGE}")
        return 0


def _parse(folder: Path, name: str, arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line; see `parser`.

    Raises:
        SubmissionError: an option is invalid.
    """
    options = parser(folder, name).parse_args(arguments)
    if real(options.out).is_relative_to(real(options.submissions)):
        out = option("out", options.out)
        raise SubmissionError(f"{out}: must not be inside the folder with the submissions")
    return options


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Grade the submissions that the command line names; return the exit status."""
    print_any_letter()
    options = _parse(folder, name, arguments)
    assignment = open_assignment(folder)
    with only_run(options.out), Store(options.out) as store:
        room = Class(options, assignment)
        try:
            room.grade(store)
            if room.config.viva:
                room.ask(store)
        except Stopped:
            print(f"stopped\nnext: {AGAIN}")
            return 130
        return room.report()
