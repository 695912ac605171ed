"""The committed starter and references are those of the solution."""

import json
import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file

from grader.assignment import ASSIGNMENT
from grader.staff import NOT_MEASURED, threshold
from tensormark.authoring.record import digests
from tensormark.authoring.strip import derive, drifted
from tensormark.judging.fingerprints import RANDOM, UNDECIDED
from tensormark.settings import references_for
from testkit.graded import in_manifest
from testkit.resident import called
from tests.helpers import ROOT


@pytest.mark.nightly  # tests/test_recording.py records a part in every run
@pytest.mark.timeout(3600)  # recording takes six minutes, and more on a busy machine
def test_recording_again_moves_nothing():
    completed = called(ROOT, "references", "--check")

    assert completed.returncode == 0, completed.stdout + completed.stderr


def test_the_committed_starter_is_the_stripped_solution():
    assert drifted(ASSIGNMENT.starter, derive(ASSIGNMENT)) == []


def test_no_answer_of_the_solution_is_undecided():
    for path in sorted((ROOT / "reference_outputs").glob("*.safetensors")):
        for name, value in load_file(path).items():
            if name.endswith("/wrong"):
                assert not np.isin(value[0, :, 0], (RANDOM, UNDECIDED)).any(), (path, name)


def test_mistakes_are_at_least_ten_times_the_noise_and_tolerances_lie_between():
    text = (ROOT / "reference_outputs" / "manifest.json").read_text("utf-8")

    for entry in json.loads(text)["exercises"].values():
        for kind, measured in entry["measured"].items():
            allowed = entry["tolerance"][kind]["atol"]
            assert measured["noise"] < allowed
            if measured["ratio"] is not None:  # no variant counts for this kind
                assert measured["ratio"] >= 10
                assert allowed < measured["smallest_error"]


def test_another_checkpoint_has_its_own_references_and_no_threshold(tmp_path):
    other = tmp_path / "other"
    shutil.copytree(ROOT / "checkpoint", other)
    (other / "vocab.txt").write_text("something else", "utf-8")

    assert references_for(ROOT, other) == ROOT / "reference_outputs" / "private" / "other"
    assert references_for(ROOT, ROOT / "data" / ".." / "checkpoint") == ROOT / "reference_outputs"
    names = ASSIGNMENT.checkpoint_files
    assert threshold(ASSIGNMENT, digests(other, names)) == {"sentiment": NOT_MEASURED}
    shipped = threshold(ASSIGNMENT, digests(ROOT / "checkpoint", names))
    assert shipped["sentiment"]["threshold"] > 0.5


@pytest.mark.slow
def test_sentiment_is_left_out_where_the_references_say_why(grade, tmp_path):
    shutil.copytree(ROOT / "reference_outputs", tmp_path / "own")
    in_manifest(tmp_path / "own", sentiment=NOT_MEASURED)

    graded = grade("solution", "--references", str(tmp_path / "own"), training=True)

    assert graded.status == 0
    assert (graded.result["score"], graded.result["max_score"]) == (80, 80)
    assert NOT_MEASURED in graded.output
