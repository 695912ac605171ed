"""Recording again changes only what has moved, and marks what chance decides."""

import contextlib
import dataclasses
import json
import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from grader.assignment import ASSIGNMENT
from tensormark.authoring.prove import alone
from tensormark.authoring.record import record
from tensormark.authoring.recorder import Recorder
from tensormark.authoring.table import Run, Table
from tensormark.authoring.tolerance import KINDS
from tensormark.files import sha256
from tensormark.judging.diagnose import PAIR
from tensormark.judging.fingerprints import RANDOM, UNDECIDED
from tensormark.program import program_of
from tensormark.references import Recording
from tensormark.sandbox.interface import Reply
from tensormark.sandbox.sandbox import Sandbox
from tensormark.sandbox.server import SERVERS
from tensormark.sandbox.tiers import PROCESS
from tensormark.settings import Settings
from testkit.graded import files_in, in_manifest
from tests.helpers import ROOT
from tests.helpers.known import COURSE
from tests.helpers.processors import PLAIN

SEED = ASSIGNMENT.seed
CHECKPOINT = ASSIGNMENT.checkpoint
SMALL = "nsp_head"  # an exercise that is recorded in a second
PROBED = [exercise.id for exercise in ASSIGNMENT.exercises if exercise.probes]


def only(exercise, *variants):
    """Return the course with one exercise, and with these of its mistakes."""
    course = alone(COURSE, exercise)
    chosen = tuple(variant for variant in course.variants if not variants or variant.id in variants)
    return dataclasses.replace(course, variants=chosen, honest=())


@pytest.fixture(scope="module")
def course():
    return only(SMALL)


@pytest.fixture(scope="module")
def recorded(course, tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    assert record(course, folder, SEED, False, CHECKPOINT)
    return folder


@pytest.fixture
def folder(recorded, tmp_path):
    return shutil.copytree(recorded, tmp_path / "own")


def edit(folder, change):
    """Change what was recorded: its tensors, and its entry in the manifest."""
    path = folder / f"{SMALL}.safetensors"
    values = json.loads((folder / "manifest.json").read_text("utf-8"))
    tensors = load_file(path)
    change(tensors, values["exercises"][SMALL])
    save_file(tensors, path)
    in_manifest(
        folder, exercises=values["exercises"], files=values["files"] | {path.name: sha256(path)}
    )


# --- what moves ---------------------------------------------------------------------------------


def round_differently(tensors, entry):
    """Change what was recorded as another processor might."""
    for name, value in tensors.items():
        if name.endswith("/wrong"):
            value[value[..., 0] > 0, 1:] *= 1 + 1e-6  # sums
        elif value.dtype.kind == "f":
            value *= 1 + 1e-13
    for kind in KINDS:
        allowed = entry["tolerance"][kind]["atol"] * 2
        entry["tolerance"][kind] = {"rtol": allowed, "atol": allowed}


def test_what_another_processor_rounds_differently_stays_as_it_was(course, folder):
    edit(folder, round_differently)
    versions = {"python": "3.14.0", "numpy": "3.0", "torch": "2.14.0"}
    in_manifest(folder, versions=versions, processor={"machine": "arm64"})
    before = files_in(folder)

    assert record(course, folder, SEED, False, CHECKPOINT) == []

    assert files_in(folder) == before


# each returns what the line that names it must contain


def move_row(tensors, entry):
    tensors["0/wrong"][2, :, 1] += 20 * entry["tolerance"]["outputs"]["atol"]
    return entry["rows"][2]


def move_output(tensors, _):
    name = next(name for name in sorted(tensors) if name.startswith("0/out/"))
    tensors[name] = tensors[name] * (1 + 1e-8)
    return "0/out/"


def move_tolerance(_, entry):
    entry["tolerance"]["outputs"] = {"rtol": 1e-3, "atol": 1e-3}
    return "tolerance.outputs.rtol was 0.001"


@pytest.mark.parametrize("move", [move_row, move_output, move_tolerance])
def test_what_moved_is_named(course, folder, move):
    named = []
    edit(folder, lambda tensors, entry: named.append(move(tensors, entry)))

    lines = record(course, folder, SEED, True, CHECKPOINT)

    assert [line for line in lines if named[0] in line and SMALL in line] != []


# --- what chance decides ------------------------------------------------------------------------

ALLOWED = 1e-3


# how far the last bits of inputs, and other seeds, move an output of 1; the solution's; the mark
MARKED = {
    "same": (0.0, 0.0, 5.0, None),
    "rounded": (ALLOWED / 8, 0.0, 5.0, None),
    "unsteady": (ALLOWED * 8, 0.0, 5.0, UNDECIDED),
    "random": (0.0, ALLOWED * 8, 5.0, RANDOM),
    "right by chance with this seed": (0.0, ALLOWED * 8, 1.0, UNDECIDED),
    "right by chance with another seed": (0.0, 4.0, 5.0, UNDECIDED),
}


@pytest.mark.parametrize(("rounding", "drawn", "solution", "code"), MARKED.values(), ids=MARKED)
def test_an_entry_is_marked_by_what_changes_it(course, rounding, drawn, solution, code):
    (exercise,) = course.assignment.exercises
    recordings = [
        Recording(exercise.inputs(call, SEED), {"output": np.zeros((2, 3))}, {}, np.zeros(0))
        for call in exercise.calls
    ]
    limits = {kind: {"rtol": ALLOWED, "atol": ALLOWED} for kind in KINDS}
    table = Table(exercise, recordings, {"tolerance": limits})

    def replies(value, drew, numbers=recordings):
        tensors = {"out/output": np.full((2, 3), value)}
        return [
            Reply("ok", tensors=tensors, message={"drew": drew, "changed": []}) for _ in numbers
        ]

    def ask(numbers, nudge=0, seed=0):
        return replies(1.0 + bool(nudge) * rounding + seed * drawn, drawn > 0, numbers)

    right = Run(
        "the solution", replies(solution, False), lambda n, **_: replies(solution, False, n)
    )
    table.add(right)
    table.add(Run("a mistake", replies(1.0, drawn > 0), ask))

    codes = table.recordings[0].wrong[1, :, 0]
    assert codes[0] == code if code is not None else codes[0] >= 0
    assert codes[1] not in (RANDOM, UNDECIDED)  # what the call changes


# --- a sample of the references, recorded again; `make nightly` records all of them -------------


GONE = ": a row is gone"


class OtherDraws(Recorder):
    """Records as on a machine where the same seed draws other numbers."""

    def ask(self, *arguments, **overrides):
        return super().ask(*arguments, **overrides | {"seed": overrides.get("seed", 0) + 100})


@contextlib.contextmanager
def recording(course, exercise, kind=Recorder):
    """Begin to record an exercise again; yield its recorder, and what was recorded of it."""
    sources = course.assignment.solution_sources
    program = program_of(course.assignment, [exercise], sources, Settings.of(ROOT))
    with Sandbox(PROCESS, program) as sandbox:
        recorder = kind(course, exercise, sandbox, SEED)
        yield recorder, recorder.previous(ROOT / "reference_outputs")[0]


def moved_in(course, kind=Recorder):
    """Record the only exercise of a course again; return what moved in the rows that it has.

    Tolerances depend on all rows.
    """
    with recording(course, *course.assignment.exercises, kind) as (recorder, previous):
        changes = recorder.differences(previous)
    changes = [one for one in changes if not (one.endswith(": a new row") and PAIR in one)]
    return [one for one in changes if not one.startswith("the tolerance of ") and GONE not in one]


@pytest.mark.parametrize("exercise", PROBED)
def test_a_sample_of_each_exercise_recorded_again_has_not_moved(exercise):
    course = dataclasses.replace(only(exercise), staff=COURSE.staff)  # with pairs of mistakes
    first = {variant.section: variant for variant in reversed(course.variants)}
    common = [variant for variant in course.variants if variant.id in course.staff.common]
    chosen = tuple(v for v in course.variants if v in (*first.values(), *common[:2]))

    assert moved_in(dataclasses.replace(course, variants=chosen)) == []


def test_where_a_seed_draws_other_numbers_nothing_has_moved():
    assert moved_in(only("make_sentence_pairs"), OtherDraws) == []


@pytest.fixture
def another_processor(monkeypatch):
    for name, value in PLAIN.items():
        monkeypatch.setenv(name, value)
    SERVERS.close()  # those that were started without
    yield
    SERVERS.close()


@pytest.mark.nightly
@pytest.mark.usefixtures("another_processor")
@pytest.mark.parametrize("exercise", ["layer", "encode"])
def test_other_processors_compute_the_same_values_on_the_way_but_for_rounding(exercise):
    with recording(COURSE, ASSIGNMENT.exercise(exercise)) as (recorder, previous):
        assert list(recorder.unknown(previous.calls)) == []


# a norm that has only rounding to normalize; a gradient that is nearly 0 whatever is drawn
@pytest.mark.usefixtures("another_processor")
@pytest.mark.parametrize(
    ("exercise", "variants"),
    [
        ("layer", "gelu_missing second_residual_of_context first_arguments_exchanged"),
        pytest.param("encode", "layers_reversed weights_drawn_again", marks=pytest.mark.nightly),
    ],
)
def test_where_chance_decides_other_processors_agree(exercise, variants):
    assert moved_in(only(exercise, *variants.split())) == []
