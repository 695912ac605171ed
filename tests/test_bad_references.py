"""Missing, damaged or stale files of the grader: "could not grade", and no points are lost."""

import json
import shutil
from pathlib import Path

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.grading import Grading
from tensormark.result import Outcome
from tensormark.settings import Settings
from testkit.graded import in_manifest
from tests.helpers import ROOT

FEW = ("--only", "attention,layer")


@pytest.fixture
def copy(tmp_path):
    """A folder with a copy of all that the grader reads."""
    for name in ("reference_outputs", "checkpoint", "data"):
        ignored = shutil.ignore_patterns("private", "snapshots")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    return tmp_path


def truncate(path):
    path.write_bytes(path.read_bytes()[:-100])


def flip(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def costs_no_point(graded, name):
    """Return whether an exercise could not be graded and does not count."""
    entry = graded.exercise(name)
    counted = [e["max_score"] for e in graded.result["exercises"] if e["score"] is not None]
    most = graded.result["max_score"] + graded.result["bonus_max_score"]
    return entry["outcome"] == "could not grade" and entry["score"] is None and most == sum(counted)


@pytest.mark.parametrize(
    ("damage", "place", "option"),
    [
        (Path.unlink, "reference_outputs/attention.safetensors", "references"),
        (truncate, "reference_outputs/attention.safetensors", "references"),
        (flip, "reference_outputs/attention.safetensors", "references"),
        (truncate, "checkpoint/model.safetensors", "checkpoint"),
        (Path.unlink, "checkpoint/model.safetensors", "checkpoint"),
        (Path.unlink, "checkpoint/config.json", "checkpoint"),
    ],
)
def test_a_damaged_file_costs_no_points_and_is_named(grade, copy, damage, place, option):
    damage(copy / place)
    folder = str((copy / place).parent)
    options = [f"--{option}", folder]
    if option == "checkpoint":
        options += ["--references", "reference_outputs"]

    graded = grade("solution", *options, *FEW)

    assert costs_no_point(graded, "attention")
    assert place.rpartition("/")[2] in graded.exercise("attention")["message"]
    assert graded.status == 3
    assert graded.result["score"] == graded.result["max_score"]


def test_windows_line_ends_do_no_damage(grade, copy):
    for path in [*copy.rglob("*.json"), *copy.rglob("*.txt")]:
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    folders = {name: copy / name for name in ("checkpoint", "data")}

    settings = Settings.of(ROOT, references=copy / "reference_outputs", **folders)
    grading = Grading(settings, ASSIGNMENT)
    grade = grading.grade(grading.read(str(ROOT / "solution")))

    assert grade.sums() == (100, 100)


@pytest.mark.parametrize("place", ["data/dev.txt", "reference_outputs/embed.safetensors"])
def test_what_damage_keeps_the_fine_tune_from_costs_no_points_and_is_named(copy, place):
    flip(copy / place)

    folders = {"data": copy / "data", "references": copy / "reference_outputs"}
    grading = Grading(Settings.of(ROOT, **folders), ASSIGNMENT)
    submission = grading.read(str(ROOT / "solution"))
    (sentiment,) = grading.grade(submission, only="sentiment").results

    assert (sentiment.outcome, sentiment.score) == (Outcome.COULD_NOT_GRADE, None)
    assert place.rpartition("/")[2] in sentiment.note


def test_without_a_manifest_nothing_can_be_graded(grade, copy):
    truncate(copy / "reference_outputs" / "manifest.json")

    graded = grade("solution", "--references", str(copy / "reference_outputs"))

    assert set(graded.outcomes().values()) == {"could not grade"}
    assert (graded.result["score"], graded.result["max_score"], graded.status) == (0, 0, 3)
    assert "Traceback" not in graded.output + graded.errors


@pytest.mark.parametrize("stale", ["format", "calls", "exercise"])
def test_a_stale_manifest_is_not_used(grade, copy, stale):
    folder = copy / "reference_outputs"
    exercises = json.loads((folder / "manifest.json").read_text("utf-8"))["exercises"]
    of_layer = exercises.pop("layer")
    if stale == "calls":
        exercises["layer"] = of_layer | {"calls": "0"}
    changes = {"format": 99} if stale == "format" else {"exercises": exercises}
    in_manifest(folder, **changes)

    assert costs_no_point(grade("solution", "--references", str(folder), *FEW), "layer")
