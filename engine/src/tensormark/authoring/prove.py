"""Prove what an assignment claims about itself: `tensormark prove`, and `tensormark try ID`.

    solution             has all points, including those of tasks
    starter              has none, because nothing is written yet
    honest ...           right code that is written differently has all points of its probes
    mistake ...          costs points of its own exercise and no other, and is reported by its name

Each claim is one line; that of a false one begins with `!`, and the exit status is then 1.

`prove` uses the public references, or private ones, with whose inputs a mistake may pass. `try` is
for an exercise that is being written: it alone is recorded into a temporary folder, which takes
seconds, and only the variants of its file are graded. A task is tried with the public references,
because it needs what was measured for it.

One worker runs everything, one claim after another, so that torch is imported only once: all of it
is staff's own code. Each change is made to the solution; exercises whose files it does not affect
are left out.
"""

import contextlib
import dataclasses
import functools
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path

from tensormark.authoring.course import Course, open_course, require_current
from tensormark.authoring.record import record
from tensormark.authoring.strip import derive
from tensormark.authoring.variants import Variant
from tensormark.exercise import Exercise
from tensormark.files import module_of
from tensormark.folder import open_assignment
from tensormark.grading import Grading, selected
from tensormark.intake.needed import needed_by
from tensormark.intake.submission import Submission, inspected
from tensormark.judging.fingerprints import NOT_FINITE, RAISED, RANDOM, UNDECIDED
from tensormark.program import program_of
from tensormark.references import References
from tensormark.result import Outcome, Result
from tensormark.sandbox.sandbox import Sandbox
from tensormark.sandbox.tiers import PROCESS
from tensormark.settings import Settings
from tensormark.usage import UserError, enumerated, option, parser

# of a mistake's row; an answer that is no evidence for a mistake
TELLS_NOTHING = {
    RAISED: "raises",
    NOT_FINITE: "gives NaN or inf",
    RANDOM: "depends on chance",
    UNDECIDED: "depends on chance",
}
Results = Mapping[str, Result]


@dataclasses.dataclass(frozen=True)
class CourseClaim:
    """The result that some sources should have.

    Attributes:
        name: such as "mistake bias_forgotten".
        sources: the modules that differ from the solution: name to text.
        fault: returns why the claim is false, or None.
        tasks: grade tasks too.
    """

    name: str
    sources: Mapping[str, str]
    fault: Callable[[Results], str | None]
    tasks: bool = False


def _in_words(results: Sequence[Result]) -> str:
    """Return what became of exercises, and why."""
    texts = []
    for result in results:
        points = "not graded"
        if result.score is not None:
            points = f"{result.score:g} of {result.max_score:g}"
        reason = result.findings[0].headline if result.findings else result.note
        texts.append(", ".join(filter(None, [f"{result.id} {points}", reason])))
    return "; ".join(texts)


def _not_full(results: Results) -> list[Result]:
    return [result for result in results.values() if result.score != result.max_score]


def _lost_points(results: Results) -> str | None:
    lost = _not_full(results)
    return f"it loses points: {_in_words(lost)}" if lost else None


def _starter_fault(results: Results) -> str | None:
    """Return whether there are points, or something that is to be written counts as written."""
    scored = [result for result in results.values() if result.score != 0]
    if scored:
        return f"it should have no points: {_in_words(scored)}"
    written = [
        result
        for result in results.values()
        if not result.task and result.outcome is not Outcome.NOT_WRITTEN
    ]
    return f"it should count as not written: {_in_words(written)}" if written else None


def _mistake_fault(
    variant: Variant, known: Set[str], why_unnamed: str, results: Results
) -> str | None:
    """Return whether other points were lost than those of its exercise, or to another mistake.

    Args:
        known: the names of the exercise's mistakes; one without a name may get a general one.
    """
    lost = _not_full(results)
    others = [result for result in lost if result.id != variant.exercise]
    if others:
        return f"it costs other exercises: {_in_words(others)}"
    if not lost:
        return f"it costs no points in {variant.exercise}: no probe detects it"
    names = (lost[0].as_json()["mistake"] or "").split("|")
    if variant.name in names or (variant.unnamed and known.isdisjoint(names)):
        return None
    got = f"is reported as {' or '.join(names)}" if any(names) else f"has no name{why_unnamed}"
    return f"it {got}: {_in_words(lost)}"


def _why_unnamed(exercise: Exercise, references: References, name: str) -> str:
    """Return why a mistake cannot be named, if what was recorded of it says so."""
    row = references.entry(exercise.id)["rows"].index(name)
    codes: set[float] = set()
    for call in references.recordings(exercise.id, exercise.digest):
        right, wrong = call.wrong[[0, row]]
        codes.update(wrong[(wrong != right).any(-1), 0])
    if not codes <= TELLS_NOTHING.keys():
        return ""
    causes = sorted({TELLS_NOTHING[code] for code in codes})
    return f", as it {enumerated(causes)} wherever it is wrong"


def claims(course: Course, references: References | None = None) -> Iterator[CourseClaim]:
    """Yield what an assignment claims; nothing is read before a claim is asked for.

    Args:
        references: say why a mistake has no name.
    """
    solution = course.assignment.solution_sources
    yield CourseClaim("solution", {}, _lost_points, tasks=True)
    starter = derive(course.assignment).items()
    without_suffix = {module_of(name): text for name, text in starter}
    yield CourseClaim("starter", without_suffix, _starter_fault, tasks=True)
    for honest in course.honest:
        changed = {honest.module: honest.apply(solution[honest.module])}
        yield CourseClaim(f"honest {honest.id}", changed, _lost_points)
    for variant in course.variants:
        changed = {variant.module: variant.apply(solution[variant.module])}
        exercise = course.assignment.exercise(variant.exercise)
        why = _why_unnamed(exercise, references, variant.name) if references else ""
        known = {each.name for each in course.variants if each.exercise == exercise.id}
        fault = functools.partial(_mistake_fault, variant, known, why)
        yield CourseClaim(f"mistake {variant.id}", changed, fault)


class Bench:
    """Grades sources of one assignment in one worker."""

    def __init__(
        self, course: Course, settings: Settings, exercises: Sequence[Exercise] | None = None
    ) -> None:
        """Start the worker.

        Args:
            exercises: default to all except tasks that the references leave out.

        Raises:
            ReferencesError: there are no references.
        """
        self.assignment = course.assignment
        self.sources = course.assignment.solution_sources
        self.grading = Grading(settings, self.assignment)
        if self.grading.fault is not None:
            raise self.grading.fault
        if exercises is None:
            exercises, *_ = selected(self.assignment, False, None, self.grading.references)
        self.exercises = exercises
        program = program_of(self.assignment, exercises, self.sources, settings)
        self.sandbox = Sandbox(PROCESS, program)

    def close(self) -> None:
        """End the worker."""
        self.sandbox.__exit__(None, None, None)

    def results(self, changed: Mapping[str, str], tasks: bool) -> Results:
        """Grade the solution with some of its modules changed.

        Args:
            tasks: grade everything; otherwise, exercises that have probes and depend on the change.
        """
        sources = self.sources | dict(changed)
        modules = {exercise.module for exercise in self.exercises}
        reached = {module for module in modules if needed_by(module, sources) & changed.keys()}
        self.sandbox.reload(sources)
        editable = set(map(module_of, self.assignment.editable))
        handed_in = {name: text for name, text in sources.items() if name in editable}
        submission = inspected(Submission(self.assignment.main_file, handed_in, {}))
        exercises = [
            exercise
            for exercise in self.exercises
            if tasks or (exercise.probes and exercise.module in reached)
        ]
        return self.grading.session(submission, exercises).run(self.sandbox)


def alone(course: Course, exercise_id: str) -> Course:
    """Return a course with only one of its exercises.

    Raises:
        UserError: there is no such exercise.
    """
    try:
        exercise = course.assignment.exercise(exercise_id)
    except KeyError:
        raise UserError(f"{option('id', exercise_id)}: there is no such exercise") from None
    return dataclasses.replace(
        course,
        assignment=dataclasses.replace(course.assignment, exercises=(exercise,)),
        variants=tuple(variant for variant in course.variants if variant.exercise == exercise.id),
        honest=tuple(
            honest
            for honest in course.honest
            if honest.module == exercise.module and exercise.probes
        ),
        staff=dataclasses.replace(course.staff, common=frozenset(), seen={}),
    )


def recorded_alone(course: Course, folder: Path, seed: int) -> Settings:
    """Record a course of one exercise into a folder; return the settings to grade it with."""
    settings = Settings.of(course.assignment.folder)
    if course.assignment.exercises[0].task is not None:
        return settings
    record(course, folder, seed, False, settings.checkpoint)
    return dataclasses.replace(settings, references=folder)


def proved(
    course: Course, settings: Settings, exercises: Sequence[Exercise] | None = None
) -> Iterator[tuple[CourseClaim, Results]]:
    """Yield each claim of a course with its results.

    Args:
        exercises: default to all except tasks that the references leave out.

    Raises:
        ReferencesError: there are no references.
        VariantError: a mistake, or right code, no longer matches the solution.
    """
    with contextlib.closing(Bench(course, settings, exercises)) as bench:
        for claim in list(claims(course, bench.grading.references)):  # all apply before one runs
            yield claim, bench.results(claim.sources, claim.tasks)


def _line(claim: CourseClaim, results: Results) -> str:
    fault = claim.fault(results)
    graded = list(results.values())
    points = f"{sum(r.score or 0 for r in graded):g}/{sum(r.max_score for r in graded):g}"
    outcome = ""
    message = fault or ""
    for result in (_not_full(results) or graded)[:1]:
        outcome = result.outcome
        if result.findings and not fault:
            message = result.findings[0].headline
    mark = "!" if fault else " "
    return f"{mark} {claim.name:40} {outcome:16} {points:>7}   {message}".rstrip()


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Prove what an assignment claims, or try one of its exercises."""
    command_line = parser(
        name, "Prove that the solution passes, and that each known mistake is named."
    )
    if name == "try":
        command_line.add_argument("id", help="id of the exercise, such as layer_norm")
    else:
        about = "private references to prove it with (default: the public ones)"
        command_line.add_argument("--references", type=Path, help=about)
    options = command_line.parse_args(arguments)
    course = open_course(open_assignment(folder))
    settings = Settings.of(folder)
    exercises = None
    with tempfile.TemporaryDirectory() as scratch:
        if name == "try":
            course = alone(course, options.id)
            exercises = course.assignment.exercises
            settings = recorded_alone(course, Path(scratch), course.assignment.seed)
        else:
            if options.references:
                settings = dataclasses.replace(settings, references=options.references)
            require_current(course, References(settings.references))
        wrong = 0
        for claim, results in proved(course, settings, exercises):
            line = _line(claim, results)
            print(line, flush=True)
            wrong += line.startswith("!")
    return 1 if wrong else 0
