"""A run: from the folder with the hand-ins to the gradebook."""

import argparse
import functools
import sys
from collections.abc import Sequence

from tensormark.authoring.course import open_course
from tensormark.classroom import standing
from tensormark.classroom.combination import checked, keep
from tensormark.classroom.earlier import Earlier
from tensormark.classroom.entry import Entry
from tensormark.classroom.failure import Stopped
from tensormark.classroom.jobs import estimate
from tensormark.classroom.jobs.killed import result_of_killed
from tensormark.classroom.jobs.parcel import checkpoint_digest
from tensormark.classroom.jobs.progress import kind_of
from tensormark.classroom.jobs.rounds import Round
from tensormark.classroom.jobs.store import Store
from tensormark.classroom.jobs.version import code, versions
from tensormark.classroom.jobs.work import Ask, Terms, Work
from tensormark.classroom.options import STORE, settings_of
from tensormark.classroom.points import finals, ledger
from tensormark.classroom.points.written import files_of
from tensormark.classroom.remembered import own_files, remember, settle
from tensormark.classroom.reports import teach
from tensormark.classroom.reports.canvas import open_export
from tensormark.classroom.reports.gradebook import CANVAS, RESULTS, write_results
from tensormark.classroom.reports.last_term import read_class
from tensormark.classroom.reports.lesson import Lesson, lesson_of
from tensormark.classroom.standing import Class
from tensormark.classroom.students.choice import NEWEST
from tensormark.classroom.students.hand_ins import find
from tensormark.classroom.summary import OURS
from tensormark.classroom.viva import marks as viva_marks
from tensormark.classroom.viva.pages import FOLDER, write_sheets
from tensormark.classroom.viva.sheets import Viva, blamed, kind_of_sheet
from tensormark.exercise import Assignment
from tensormark.intake.given_files import GivenFiles
from tensormark.intake.submission import SubmissionError
from tensormark.references import References
from tensormark.sandbox.interface import CONTAINED, LOCKED, PROCESS, TIERS
from tensormark.strictest import strictest
from tensormark.usage import UserError, option

AGAIN = "the same command continues where it stopped"
RETRY = "run the same command again{}, which retries what could not be graded"
PUBLIC = "graded on the public inputs, which every student has; for marks, give {}"
PRIVATE = "reference_outputs/private"  # where private references are usually kept


def chosen_tier(options: argparse.Namespace, store: Store, assignment: Assignment) -> str:
    """Return the tier: the requested one, that of earlier runs, or the strictest available.

    Raises:
        SubmissionError: no tier on this machine isolates submissions.
    """
    if options.tier:
        return str(options.tier)
    if (before := store.setting("tier")) in TIERS and before != PROCESS:
        return str(before)
    if options.scheduler:
        return CONTAINED
    best = strictest(assignment, settings_of(assignment.folder, options), (CONTAINED, LOCKED))
    if best.tier is None:
        reasons = "; ".join(best.reasons)
        raise SubmissionError(
            f"this machine cannot isolate submissions ({reasons}); SECURITY.md says what it needs"
        )
    return best.tier


def terms_of(
    options: argparse.Namespace, references: References, store: Store, assignment: Assignment
) -> Terms:
    """Return how this run grades; later runs use the same tier."""
    tier = chosen_tier(options, store, assignment)
    store.choose("tier", tier)
    return Terms(
        code=code(assignment.folder),
        versions=versions(assignment.folder),
        references=references.digest,
        checkpoint=checkpoint_digest(references),
        tier=tier,
        mode="check" if options.check else "grade",
        budget=options.budget,
        training_times=options.training_times,
    )


def known_sources(assignment: Assignment) -> list[dict[str, str]]:
    """Return the solution and correct alternatives to parts of it: module to text.

    Raises:
        VariantError: an alternative no longer fits the solution.
    """
    course = open_course(assignment)
    solution = course.sources()
    editable = [name.removesuffix(".py") for name in assignment.editable]
    others = [{honest.module: honest.apply(solution[honest.module])} for honest in course.honest]
    return [{name: solution[name] for name in editable}, *others]


def _descriptions(references: References) -> dict[tuple[str, str], str]:
    """Return descriptions of known mistakes, by the ids of exercise and mistake."""
    exercises = references.manifest["exercises"].items()
    return {
        (exercise, name): str(variant["says"])
        for exercise, entry in exercises
        for name, variant in entry.get("variants", {}).items()
        if "says" in variant
    }


class Run:
    """One run, with its options and the store of its folder."""

    def __init__(self, options: argparse.Namespace, store: Store, assignment: Assignment) -> None:
        """Read what was handed in.

        Raises:
            SubmissionError: there is nothing to grade, or it cannot be isolated.
            FileError: a file given as an option cannot be used.
            ReferencesError: there are no references. InspectionError: nothing can be read here.
        """
        self.options, self.store, self.assignment = options, store, assignment
        self.references = references = References(options.references)
        if not references.private:
            print(PUBLIC.format(option("references", PRIVATE)), flush=True)
        for line in settle(options, store):
            print(line, flush=True)
        combination, changed = checked(assignment.folder, options, references, store)
        self.compares_only = changed and options.only is not None
        if options.canvas:
            open_export(options.canvas, options.column, assignment.name, options.out / CANVAS)
        self.last = read_class(options.last, assignment) if options.last else None
        given_files = GivenFiles(assignment, references.manifest.get("starter", {}))
        staff_files = own_files(options)
        late = options.late or NEWEST
        people = options.roster or options.canvas  # either is a list of the class
        folder = options.submissions
        find_all = functools.partial(
            find, folder, assignment.editable, people, options.deadline, late, own=staff_files
        )
        hand_ins = find_all()
        self.ledger = ledger.read_ledger(options, hand_ins, assignment)
        self.answers = list(files_of("answers", options.answers or ""))
        viva_marks.check(self.answers)
        if self.ledger and self.ledger.deadlines:
            hand_ins = find_all(deadlines=self.ledger.deadlines)
        print_line = functools.partial(print, file=sys.stderr, flush=True)
        self.students = Class(hand_ins, given_files, store, print_line)
        if not self.students.works():
            lines = standing.listed(standing.by_kind(self.students.unread()))
            print("".join(f"{line}\n" for line in lines), end="")
            raise SubmissionError(f"there is nothing to grade in {folder}")
        self.terms = terms_of(options, references, store, assignment)
        self.viva: Viva | None = None
        if options.viva:
            self.viva = Viva(options.viva, store, self.students, self.terms, assignment)
        self.says = _descriptions(references)
        if not self.compares_only:
            if changed:
                earlier = Earlier(options.out)
                earlier.move(*RESULTS, FOLDER)
                print("".join(f"{line}\n" for line in earlier.lines()), end="", flush=True)
            keep(combination, self.terms.tier, store)

    def everybody(self) -> int:
        """Grade what is new or has changed; return the exit status."""
        works = self.students.left(self.terms, self.options.force)
        if count := len(self.students.works()) - len(works):
            print(f"{count} graded before, in {self.options.out / STORE}", flush=True)
        try:
            if works:
                self.grade(works)
            if asks := self.asks():
                self.ask(asks)
        except Stopped:
            print(f"stopped; {self.counted()}\nnext: {self.again}")
            return 130
        return self.report()

    @property
    def again(self) -> str:
        """What the same command does after this run was stopped."""
        force = option("force", True)
        afresh = f"{force} starts over; without it, the same command grades what has no result yet"
        return afresh if self.options.force else AGAIN

    def grade(self, works: Sequence[Work]) -> None:
        """Have some work graded.

        Raises:
            Stopped: on Ctrl-C. UserError: no workers are left, or Dask is missing.
        """
        durations = estimate.durations(self.store, self.terms)
        blame = functools.partial(
            result_of_killed,
            terms=self.terms,
            references=self.references,
            assignment=self.assignment,
        )
        grading = Round(works, "to grade", "graded", self.store, durations, blame, kind_of)
        grading.run(self.options, self.terms, self.assignment, self.again)

    def asks(self, only: str | None = None) -> list[Ask]:
        """Return the jobs whose questions are still to be made.

        Args:
            only: a student, if not everybody.
        """
        if self.viva is None:
            return []
        force = self.options.force and only is None
        return self.viva.left(self.students.entries(self.terms), force, only)

    def ask(self, asks: Sequence[Ask]) -> None:
        """Have questions made; raises what `grade` does."""
        assert self.viva is not None
        sheets = self.viva.sheets
        about = "to make questions on", "done", sheets, sheets.durations()
        asking = Round(asks, *about, blamed, kind_of_sheet)
        asking.run(self.options, self.terms, self.assignment, self.again)

    def counted(self) -> str:
        """Return how many students of each kind there are."""
        return standing.counted(standing.by_kind(self.students.entries(self.terms)))

    def lesson(self, entries: Sequence[Entry]) -> Lesson:
        """Return what may be shown to the class."""
        exercises, versions = self.references.manifest["exercises"], self.store.versions()
        deadline = self.options.deadline
        return lesson_of(self.assignment, exercises, entries, deadline, versions, self.last)

    def write(self, entries: Sequence[Entry], earlier: Earlier) -> list[str]:
        """Write the results; return lines for the instructor."""
        options, starter = self.options, self.assignment.starter
        return write_results(
            entries,
            options.out,
            options.canvas,
            options.column,
            {
                name.removesuffix(".py"): (starter / name).read_text(encoding="utf-8")
                for name in self.assignment.editable
            },
            known_sources(self.assignment),
            self.says,
            options.roster,
            teach.page(self.lesson(entries)),
            earlier,
        )

    def report(self, appealed: str | None = None) -> int:
        """Write the results, print a summary, and return the exit status."""
        options, entries = self.options, self.students.entries(self.terms)
        entries = self.ledger.applied(entries) if self.ledger else entries
        kinds, answer_lines = standing.by_kind(entries), list[str]()
        sheets = list(self.viva.student_sheets(entries)) if self.viva else []
        if sheets and self.answers:
            entries, answer_lines = viva_marks.marked(sheets, self.answers)
        remember(options, self.store)
        final_lines = finals.keep(self.store, self.ledger, entries, appealed)
        try:
            earlier = Earlier(options.out)
            sheet_lines = write_sheets(sheets, earlier)
            lines = [*self.write(entries, earlier), *sheet_lines, *answer_lines]
        except OSError as error:
            path, reason = error.filename or options.out, error.strerror or error
            raise UserError(
                f"{option('out', options.out)}: results are saved, but {path} cannot be "
                f"written ({reason}); fix that or move it away, and run the same command again"
            ) from error
        print("\n".join([standing.counted(kinds), *standing.listed(kinds), *final_lines, *lines]))
        if any(kinds[kind] for kind in OURS):
            without = f" without {option('force', True)}" if options.force else ""
            print(f"next: {RETRY.format(without)}")
            return 3
        print(f"next: open {options.out / 'gradebook.html'}")
        return 0
