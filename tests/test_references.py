"""The committed references are what the solution gives, and private ones are others."""

import json
import subprocess
import sys

from grader.store import sha256

from conftest import ROOT


def record(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "instructor.record", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_recording_again_moves_nothing() -> None:
    done = record("--check")

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == f"nothing has moved in {ROOT / 'reference_outputs'}\n"


def test_the_manifest_has_the_digest_of_every_file() -> None:
    folder = ROOT / "reference_outputs"
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))

    assert {p.name for p in folder.glob("*.safetensors")} == manifest["files"].keys()
    for place, part in [
        (folder, "files"),
        (ROOT / "solution", "solution"),
        (ROOT / "checkpoint", "checkpoint"),
        (ROOT / "data", "data"),
    ]:
        assert manifest[part] == {name: sha256(place / name) for name in manifest[part]}


def test_mistakes_are_at_least_ten_times_the_noise_and_tolerances_lie_between() -> None:
    text = (ROOT / "reference_outputs" / "manifest.json").read_text(encoding="utf-8")

    for entry in json.loads(text)["exercises"].values():
        for kind, measured in entry["measured"].items():
            allowed = entry["tolerance"][kind]["atol"]
            assert measured["noise"] < allowed
            if measured["ratio"] is not None:  # no variant stands out most in this kind
                assert measured["ratio"] >= 10
                assert allowed < measured["smallest_error"]
