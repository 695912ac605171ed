"""Missing, damaged or stale files of the grader: "could not grade", and no points are lost."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from graded import Grade, Graded, in_manifest
from tests.helpers import ROOT

FEW = ("--only", "attention,layer")


@pytest.fixture
def references(tmp_path: Path) -> Path:
    folder = tmp_path / "references"
    shutil.copytree(ROOT / "reference_outputs", folder, ignore=shutil.ignore_patterns("private"))
    return folder


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "missing": Path.unlink,
    "truncated": truncate,
    "flipped": flip,
}


def costs_no_point(graded: Graded, name: str) -> bool:
    """Return whether an exercise could not be graded and does not count."""
    entry = graded.exercise(name)
    counted = [e for e in graded.result["exercises"] if e["score"] is not None]
    return (
        entry["outcome"] == "could not grade"
        and entry["score"] is None
        and graded.result["max_score"] + graded.result["bonus_max_score"]
        == sum(e["max_score"] for e in counted)
        and graded.result["score"] == graded.result["max_score"]
    )


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_reference_costs_no_points_and_is_named(
    grade: Grade, references: Path, damage: str
) -> None:
    DAMAGES[damage](references / "attention.safetensors")

    graded = grade("solution", "--references", str(references), *FEW)

    assert costs_no_point(graded, "attention")
    assert "attention.safetensors" in graded.exercise("attention")["message"]
    assert "`make references`" in graded.exercise("attention")["message"]
    assert graded.outcomes()["layer"] == "passed"
    assert graded.status == 3


@pytest.mark.parametrize("damage", ["missing", "truncated"])
def test_without_a_manifest_nothing_can_be_graded(
    grade: Grade, references: Path, damage: str
) -> None:
    DAMAGES[damage](references / "manifest.json")

    graded = grade("solution", "--references", str(references))

    assert set(graded.outcomes().values()) == {"could not grade"}
    assert (graded.result["score"], graded.result["max_score"], graded.status) == (0, 0, 3)
    assert "manifest.json" in graded.output
    assert "Traceback" not in graded.output + graded.errors


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.update(format=99), "has format 99"),
        (lambda m: m["exercises"]["layer"].update(calls="0"), "with other calls"),
        (lambda m: m["exercises"].pop("layer"), "has no exercise layer"),
    ],
    ids=["format", "calls", "exercise"],
)
def test_a_stale_manifest_is_not_used(
    grade: Grade, references: Path, change: Callable[[dict], None], message: str
) -> None:
    manifest = json.loads((references / "manifest.json").read_text(encoding="utf-8"))
    change(manifest)
    in_manifest(references, **manifest)

    graded = grade("solution", "--references", str(references), *FEW)

    assert costs_no_point(graded, "layer")
    assert message in graded.exercise("layer")["message"]


@pytest.mark.parametrize(
    ("name", "damage"),
    [("config.json", "missing"), ("model.safetensors", "truncated"), ("config.json", "flipped")],
)
def test_a_damaged_checkpoint_costs_no_points_and_is_named(
    grade: Grade, tmp_path: Path, name: str, damage: str
) -> None:
    folder = tmp_path / "checkpoint"
    shutil.copytree(ROOT / "checkpoint", folder, ignore=shutil.ignore_patterns("snapshots"))
    DAMAGES[damage](folder / name)

    options = ("--checkpoint", str(folder), "--references", "reference_outputs")
    graded = grade("solution", *options, *FEW)

    assert costs_no_point(graded, "attention")
    assert f"checkpoint/{name}" in graded.exercise("attention")["message"]
    fix = "restore the one that the references were recorded with"
    assert fix in graded.exercise("attention")["message"]


def test_changed_data_are_not_used_and_cost_no_points(grade: Grade, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(ROOT / "data", folder)
    flip(folder / "dev.txt")

    graded = grade("solution", "--data", str(folder), training=True)

    assert costs_no_point(graded, "sentiment")
    assert "dev.txt" in graded.exercise("sentiment")["message"]
    assert graded.result["score"] == 80
