"""The assignment in tests/tiny, which has an optimizer, and a task that says little."""

import dataclasses
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tensormark.authoring.course import Course
from tensormark.authoring.record import record
from tensormark.authoring.strip import derive, write_starter
from tensormark.authoring.variants import apply
from tensormark.grading import Grading, program_of
from tensormark.reports.terminal import Report
from tensormark.result import Grade, Result
from tensormark.sandbox.interface import LOCKED, PROCESS, Limits, Program, Sandbox
from tensormark.sandbox.process import ProcessSandbox
from tensormark.settings import Settings

import toy
from graded import edited
from tiers import marked, own_tiers, run_in_locked
from tiny.course import HONEST, VARIANTS, course

SEED = 1
HOLES = ["conv", "detector", "momentum"]
WINDOWS = "windows = signals.unfold"
RIGHT_WITH_A_GIVEN_CONV = "right when given a correct conv"


# --- what is graded -----------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Place:
    """A folder with solution/, starter/ and references/ of the second assignment."""

    course: Course
    moved: list[str]  # the lines that recording returned

    @property
    def folder(self) -> Path:
        return self.course.assignment.folder

    def record_again(self) -> list[str]:
        return record(self.course, self.folder / "references", SEED, True, None)

    def settings(self, tier: str) -> Settings:
        limits = Limits(call_seconds=12.0)  # a busy machine may stand still for ten
        options = {"references": self.folder / "references", "show_text": True}
        return Settings.of(self.folder, tier=tier, limits=limits, **options)

    def submission(self, **texts: str) -> str:
        """Return the path of a copy of the solution with other texts of these modules."""
        path = Path(tempfile.mkdtemp(dir=self.folder))
        for name, text in (self.course.sources() | texts).items():
            (path / f"{name}.py").write_text(text, encoding="utf-8")
        return str(path)

    def edited(self, old: str, new: str) -> str:
        """Return the path of a copy of the solution with one text of its main file replaced."""
        return self.submission(detector=edited(self.course.sources()["detector"], (old, new)))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("detector")
    shutil.copytree(Path(__file__).parent / "tiny" / "solution", folder / "solution")
    shutil.copy(toy.TEMPLATE / "solution" / toy.MAIN, folder / "solution")
    tiny_course = course(folder)
    files = derive(tiny_course.assignment)
    write_starter(tiny_course.assignment.starter, files, sorted(files))
    shutil.copy(toy.TEMPLATE / "requirements.txt", folder)
    return Place(tiny_course, record(tiny_course, folder / "references", SEED, False, None))


# --- how it is graded ---------------------------------------------------------------------------


class KeptWorker(ProcessSandbox):
    """Keeps one worker for all submissions, which are our own, so that torch is imported once."""

    def __exit__(self, *_: object) -> None:
        pass  # called after each submission; the fixture closes the worker

    def open(self, tier: str, program: Program) -> Sandbox:
        self.reload(program.sources)
        return self


@pytest.fixture(scope="module", params=marked(own_tiers()))
def settings(request: pytest.FixtureRequest, place: Place) -> Settings:
    return place.settings(request.param)


@pytest.fixture(scope="module")
def grade(settings: Settings, place: Place) -> Iterator[Callable[..., Grade]]:
    """Grade in each tier that this user can have."""
    assignment = place.course.assignment
    if settings.tier != PROCESS:
        yield Grading(settings, assignment).grade
        return
    worker = KeptWorker(program_of(assignment, [], {}, settings))
    yield Grading(settings, assignment, worker.open).grade
    ProcessSandbox.__exit__(worker)


def results(graded: Grade) -> dict[str, Result]:
    return {result.id: result for result in graded.results}


def lost(graded: Grade) -> set[str]:
    return {result.id for result in graded.results if result.score != result.max_score}


def mistake(graded: Grade, exercise: str) -> str | None:
    name: str | None = results(graded)[exercise].as_json()["mistake"]
    return name


def test_recording_lists_new_files_and_a_second_recording_lists_none(place: Place) -> None:
    recorded = [line.split(": ")[0] for line in place.moved]

    assert recorded == [*(f"{hole}.safetensors" for hole in HOLES), "manifest.json"]
    assert place.record_again() == []


def test_the_solution_passes_everything(settings: Settings, place: Place) -> None:
    graded = Grading(settings, place.course.assignment).grade(str(place.course.assignment.solution))

    assert (graded.score, graded.max_score) == (40, 40)
    assert results(graded)["detection"].note.startswith("accuracy ")


def test_the_starter_is_not_written_yet_and_scores_nothing(
    grade: Callable[..., Grade], place: Place
) -> None:
    graded = grade(str(place.course.assignment.starter))

    outcomes = [str(result.outcome) for result in graded.results]
    assert outcomes == ["not written yet"] * 3 + ["blocked"]
    assert graded.score == 0


def test_each_mistake_costs_its_own_exercise_and_is_named(
    grade: Callable[..., Grade], place: Place
) -> None:
    costs = {}
    for variant in VARIANTS:
        module = place.course.assignment.exercise(variant.exercise).module
        wrong = apply(variant, place.course.sources()[module])
        graded = grade(place.submission(**{module: wrong}), check=True)
        costs[variant.id] = lost(graded), mistake(graded, variant.exercise)

    assert costs == {variant.id: ({variant.exercise}, variant.id) for variant in VARIANTS}


def test_right_solutions_that_look_different_lose_nothing(
    grade: Callable[..., Grade], place: Place
) -> None:
    sources = place.course.sources()
    texts = {honest.module: honest.apply(sources[honest.module]) for honest in HONEST}

    assert lost(grade(place.submission(**texts))) == set()


def test_a_mistake_without_a_name_is_located_in_the_assignments_words(
    grade: Callable[..., Grade], place: Place
) -> None:
    wrong = place.edited(
        WINDOWS, f"signals = signals.clone()\n        signals[..., -1] = 1\n        {WINDOWS}"
    )

    message = results(grade(wrong, check=True))["conv"].as_json()["message"]

    assert "of output differ, worst at (signal " in message
    assert "only window 6 is wrong" in message


def test_forbidden_code_costs_the_exercise_that_runs_it(
    grade: Callable[..., Grade], place: Place
) -> None:
    use = "nn.functional.conv1d(signals, self.weight)"

    mentioned = grade(place.edited(WINDOWS, f"lambda: {use}\n        {WINDOWS}"), check=True)
    graded = grade(place.edited(WINDOWS, f"{use}\n        {WINDOWS}"), check=True)

    assert lost(mentioned) == set()
    assert lost(graded) == {"conv"}
    assert mistake(graded, "conv") == "forbidden"
    assert results(graded)["conv"].findings[0].headline.startswith("F.conv1d is not allowed ")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("raise ValueError('no')", "raised ValueError: no (detector.py, line "),
        ("import time; time.sleep(99)", "Convolution.forward took longer than 12 seconds"),
    ],
    ids=["raises", "hangs"],
)
def test_what_raises_or_hangs_loses_its_own_exercise_only(
    grade: Callable[..., Grade], place: Place, code: str, message: str
) -> None:
    graded = grade(place.edited(WINDOWS, f"{code}\n        {WINDOWS}"), check=True)

    assert lost(graded) == {"conv"}
    assert message in results(graded)["conv"].findings[0].headline
    assert results(graded)["detector"].note == RIGHT_WITH_A_GIVEN_CONV


def test_the_task_fails_below_the_threshold_of_the_manifest(
    grade: Callable[..., Grade], place: Place
) -> None:
    uphill = place.course.sources()["momentum"].replace("p.sub_", "p.add_")

    graded = results(grade(place.submission(momentum=uphill)))

    assert graded["detection"].findings[0].headline == "the trained detector is not good enough"
    assert "a right one reaches 0.90" in graded["detection"].findings[0].details[0]


def test_the_task_is_left_out_where_no_threshold_was_recorded(place: Place, tmp_path: Path) -> None:
    shutil.copytree(place.folder / "references", tmp_path / "own")
    manifest = tmp_path / "own" / "manifest.json"
    values = json.loads(manifest.read_text(encoding="utf-8"))
    del values["detection"]
    manifest.write_text(json.dumps(values), encoding="utf-8")
    settings = dataclasses.replace(place.settings(PROCESS), references=tmp_path / "own")

    graded = Grading(settings, place.course.assignment).grade(place.submission(detector=""))

    assert [result.id for result in graded.results] == HOLES
    assert graded.notes == ["detection is left out: its threshold was not measured"]


def test_the_report_and_the_result_model_are_in_the_order_of_the_assignment(
    grade: Callable[..., Grade], place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    result = grade(place.submission(), observer=Report()).as_json()

    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  passed ")]
    assert [line.split()[1] for line in lines] == [*HOLES, "detection"]
    assert [entry["id"] for entry in result["exercises"]] == [*HOLES, "detection"]
    keys = {"id", "outcome", "score", "max_score", "mistake", "message"}
    assert all(keys <= entry.keys() for entry in result["exercises"])


if LOCKED not in own_tiers():

    @pytest.mark.nightly  # in every run, test_sandbox.py shows how this tier answers
    @pytest.mark.tier("locked-root")
    def test_this_file_passes_in_the_tier_locked_too() -> None:
        completed = run_in_locked(__file__)

        assert completed.returncode == 0, completed.stdout
        assert "skipped" not in completed.stdout
