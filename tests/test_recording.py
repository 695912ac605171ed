"""Recording again changes only what has moved, and marks what chance decides."""

import dataclasses
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from grader.assignment import ASSIGNMENT
from tensormark.authoring.course import Course
from tensormark.authoring.earlier import previous_record
from tensormark.authoring.record import record
from tensormark.authoring.recorder import Recorder
from tensormark.authoring.table import Table, nudged
from tensormark.authoring.tolerance import KINDS, Measured
from tensormark.authoring.try_exercise import alone
from tensormark.files import sha256
from tensormark.grading import program_of
from tensormark.judging.fingerprints import MISSING, RANDOM, UNDECIDED
from tensormark.references import Tensors
from tensormark.sandbox.interface import Reply
from tensormark.sandbox.process import ProcessSandbox
from tensormark.sandbox.worker_process import PROCESSOR
from tensormark.settings import Settings
from tests.helpers import ROOT
from tests.helpers.known import COURSE

SEED = ASSIGNMENT.seed
SMALL = "nsp_head"  # an exercise that is recorded in a second
OTHER_PROCESSOR = dict(zip(PROCESSOR, ("default", "COMPATIBLE"), strict=True))
# A norm that has only rounding to normalize; a gradient that is nearly 0 whatever is drawn.
DECIDED_BY_CHANCE = {
    "layer": ["second_residual_of_context", "first_arguments_exchanged"],
    "encode": ["weights_drawn_again"],
}
UNCHANGED_BY_CHANCE = {"layer": "gelu_missing", "encode": "layers_reversed"}


def only(exercise: str, *variants: str) -> Course:
    """Return the course with one exercise, and with these of its mistakes."""
    course = alone(COURSE, exercise)
    chosen = tuple(variant for variant in course.variants if not variants or variant.id in variants)
    return dataclasses.replace(course, variants=chosen, honest=())


def with_raising(course: Course, text: str) -> Course:
    """Return a course with one more mistake, which raises an exception with a text."""
    edit = ("return ", f"raise ValueError({text!r})  # ")
    raising = dataclasses.replace(course.variants[0], id="raising", edits=(edit,), form_of=None)
    return dataclasses.replace(course, variants=(*course.variants, raising))


@pytest.fixture(scope="module")
def course() -> Course:
    return with_raising(only(SMALL), "a text")


@pytest.fixture(scope="module")
def recorder(course: Course) -> Iterator[Recorder]:
    exercises = course.assignment.exercises
    program = program_of(course.assignment, exercises, course.sources(), Settings.of(ROOT))
    with ProcessSandbox(program) as sandbox:
        yield Recorder(course, sandbox, SEED)


@pytest.fixture(scope="module")
def recorded(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    assert record(course, folder, SEED, False, ASSIGNMENT.checkpoint)
    return folder


@pytest.fixture
def folder(recorded: Path, tmp_path: Path) -> Path:
    shutil.copytree(recorded, tmp_path / "own")
    return tmp_path / "own"


def edit(folder: Path, change: Callable[[Tensors, dict[str, Any]], object]) -> None:
    """Change what was recorded: its tensors, and its entry in the manifest."""
    path = folder / f"{SMALL}.safetensors"
    manifest = folder / "manifest.json"
    tensors = load_file(path)
    values = json.loads(manifest.read_text(encoding="utf-8"))
    change(tensors, values["exercises"][SMALL])
    save_file(tensors, path)
    values["files"][path.name] = sha256(path)
    manifest.write_text(json.dumps(values), encoding="utf-8")


def changes(recorder: Recorder, folder: Path) -> list[str]:
    """Record the exercise again, and return the changes that are reported."""
    (exercise,) = recorder.course.assignment.exercises
    return recorder.record(exercise, previous_record(folder, exercise)).changes


def round_rows(rows: np.ndarray) -> None:
    """Change the sums of tensors as another processor might."""
    rows[rows[..., 0] > 0, 1:] *= 1 + 1e-6


# --- what moves ---------------------------------------------------------------------------------


def test_what_another_processor_rounds_differently_stays_as_it_was(
    course: Course, folder: Path
) -> None:
    def round_differently(tensors: Tensors, entry: dict[str, Any]) -> None:
        for name, value in tensors.items():
            if name.endswith("/wrong"):
                round_rows(value)
            elif value.dtype.kind == "f":
                value *= 1 + 1e-13
        for kind in KINDS:
            entry["tolerance"][kind] = dict.fromkeys(
                ("rtol", "atol"), entry["tolerance"][kind]["atol"] * 2
            )

    edit(folder, round_differently)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    assert record(course, folder, SEED, False, ASSIGNMENT.checkpoint) == []
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_row_that_moves_ten_times_what_is_allowed_is_named_with_both_numbers(
    recorder: Recorder, folder: Path
) -> None:
    def move(tensors: Tensors, entry: dict[str, Any]) -> None:
        allowed = entry["tolerance"]["outputs"]["atol"]
        names = sorted(name for name in tensors if name.startswith("0/out/"))
        place = sorted(n for n in tensors if n[:6] in ("0/out/", "0/grad")).index(names[0])
        row = tensors["0/wrong"][2, place]
        row[1] += 10 * allowed * (1 + abs(row[1:]).max())

    name = json.loads((folder / "manifest.json").read_text("utf-8"))["exercises"][SMALL]["rows"][2]
    edit(folder, move)

    (line,) = changes(recorder, folder)

    assert line.startswith(f"{name}: ")
    assert "(call 0): out/" in line
    distance, allowed = (float(part.split()[-1].rstrip(",")) for part in line.split(" limit "))
    assert 9 <= distance / allowed <= 11


def test_an_output_that_moves_is_named(recorder: Recorder, folder: Path) -> None:
    def move(tensors: Tensors, entry: dict[str, Any]) -> None:
        name = next(name for name in sorted(tensors) if name.startswith("0/out/"))
        tensors[name] = tensors[name] * (1 + 1e-8)

    edit(folder, move)

    (line,) = changes(recorder, folder)

    assert line.startswith("0/out/")
    assert line.endswith("limit 1e-10")


def test_a_mistake_that_raises_something_else_is_named(recorder: Recorder, folder: Path) -> None:
    other = Recorder(with_raising(only(SMALL), "another text"), recorder.sandbox, SEED)

    assert changes(other, folder) == [
        "raising: logits (call 0): raises an exception with another message"
    ]


def test_a_row_that_is_missing_and_one_too_many_are_named(recorder: Recorder, folder: Path) -> None:
    def rename(tensors: Tensors, entry: dict[str, Any]) -> None:
        entry["rows"][1] = "of_before"

    name = json.loads((folder / "manifest.json").read_text("utf-8"))["exercises"][SMALL]["rows"][1]
    edit(folder, rename)

    assert changes(recorder, folder) == [f"{name}: a new row", "of_before: a row is gone"]


def test_a_changed_row_leaves_the_other_rows_unchanged(course: Course, folder: Path) -> None:
    def move(tensors: Tensors, entry: dict[str, Any]) -> None:
        round_rows(tensors["0/wrong"])
        tensors["0/wrong"][2, 0, 1] += 1.0

    edit(folder, move)
    before = load_file(folder / f"{SMALL}.safetensors")["0/wrong"]

    record(course, folder, SEED, False, ASSIGNMENT.checkpoint)

    after = load_file(folder / f"{SMALL}.safetensors")["0/wrong"]
    same = [np.array_equal(*rows, equal_nan=True) for rows in zip(before, after, strict=True)]
    assert same == [row != 2 for row in range(len(same))]


def test_the_manifest_says_what_ran_and_another_processor_is_no_change(
    course: Course, folder: Path
) -> None:
    path = folder / "manifest.json"
    values = json.loads(path.read_text(encoding="utf-8"))

    assert values["versions"]["torch"] == torch.__version__
    assert values["processor"]["instructions"] == torch.backends.cpu.get_cpu_capability()
    assert values["threads"] == 1

    values["versions"] = {"python": "3.14.0", "numpy": "3.0", "torch": "2.14.0"}
    values["processor"] = {"machine": "arm64", "instructions": "DEFAULT"}
    path.write_text(json.dumps(values), encoding="utf-8")

    assert record(course, folder, SEED, True, ASSIGNMENT.checkpoint) == []


@pytest.mark.parametrize("exercise", DECIDED_BY_CHANCE)
def test_what_chance_decides_is_marked_and_other_processors_agree(
    exercise: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = only(exercise, UNCHANGED_BY_CHANCE[exercise], *DECIDED_BY_CHANCE[exercise])
    record(course, tmp_path, SEED, False, ASSIGNMENT.checkpoint)
    manifest = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    tensors = load_file(tmp_path / f"{exercise}.safetensors")
    codes = np.concatenate([v[..., 0] for n, v in tensors.items() if n.endswith("/wrong")], axis=1)

    rows = zip(manifest["exercises"][exercise]["rows"], codes, strict=True)
    marked = {name for name, row in rows if np.isin(row, (RANDOM, UNDECIDED)).any()}
    assert marked == set(DECIDED_BY_CHANCE[exercise])
    for name, value in OTHER_PROCESSOR.items():
        monkeypatch.setenv(name, value)
    assert record(course, tmp_path, SEED, True, ASSIGNMENT.checkpoint) == []


def test_nudging_changes_last_bits_but_not_numbers_of_few_bits() -> None:
    drawn = np.random.default_rng(0).standard_normal((50, 4))
    few = np.array([0.0, 0.5, -1.5, -10000.0, 1.0])

    result = nudged({"drawn": drawn, "few": few, "ids": np.arange(5)}, "float32", 1)

    assert np.array_equal(result["few"], few)
    assert np.array_equal(result["ids"], np.arange(5))
    off = np.abs(result["drawn"] / drawn - 1)
    assert np.allclose(off, np.finfo(np.float32).eps, rtol=1e-6)


ALLOWED = 1e-3


def table_of(course: Course, rounding: float, drawn: float, solution: float) -> np.ndarray:
    """Record a made-up row with outputs of 1, and return the codes of its entries.

    Args:
        rounding, drawn: how far the last bits of inputs, and other seeds, move it.
        solution: the solution's outputs.
    """
    (exercise,) = course.assignment.exercises
    inputs = [exercise.inputs(call, SEED) for call in exercise.calls]
    tolerances = dict.fromkeys(KINDS, ALLOWED)
    table = Table(
        exercise,
        [["out/output"]] * len(inputs),
        inputs,
        Measured(tolerances, tolerances, tolerances),
        None,
    )

    def replies(value: float, drew: bool = True, numbers: object = None) -> list[Reply]:
        count = len(inputs) if numbers is None else len(list(numbers))  # type: ignore[call-overload]
        message = {"drew": drew, "changed": []}
        tensors = {"out/output": np.full((2, 3), value)}
        return [Reply("ok", tensors=tensors, message=message) for _ in range(count)]

    def ask(numbers: object, nudge: int = 0, seed: int = 0) -> list[Reply]:
        return replies(1.0 + bool(nudge) * rounding + seed * drawn, drawn > 0, numbers)

    table.add("the solution", replies(solution, False), lambda n, **_: replies(solution, False, n))
    table.add("a mistake", replies(1.0, drawn > 0), ask)
    return table.rows[1][1][0][:, 0]


@pytest.mark.parametrize(
    ("rounding", "drawn", "solution", "code"),
    [
        (0.0, 0.0, 5.0, None),
        (ALLOWED / 8, 0.0, 5.0, None),
        (ALLOWED * 8, 0.0, 5.0, UNDECIDED),
        (0.0, ALLOWED * 8, 5.0, RANDOM),
        (0.0, ALLOWED * 8, 1.0, UNDECIDED),  # with this seed it is right by chance
        (0.0, 4.0, 5.0, UNDECIDED),  # with another seed it is right by chance
    ],
    ids=["same", "rounded", "unsteady", "random", "right-here", "right-elsewhere"],
)
def test_an_entry_is_marked_by_what_changes_it(
    course: Course, rounding: float, drawn: float, solution: float, code: float | None
) -> None:
    codes = table_of(course, rounding, drawn, solution)

    assert codes[0] == code if code is not None else codes[0] >= 0
    assert codes[1] not in (RANDOM, UNDECIDED, MISSING)  # what the call changes


def test_the_recorded_references_have_no_undecided_answer_of_the_solution() -> None:
    for path in sorted((ROOT / "reference_outputs").glob("*.safetensors")):
        for name, value in load_file(path).items():
            if name.endswith("/wrong"):
                assert not np.isin(value[0, :, 0], (RANDOM, UNDECIDED)).any(), (path, name)
