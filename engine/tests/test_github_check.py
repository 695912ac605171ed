"""The check on GitHub: it fails until everything is passed or there are enough points."""

import json
from pathlib import Path
from typing import Any

import pytest

from tensormark.reports.convert import main

import sample


def all_passed() -> Any:
    model = sample.complete()
    for exercise in model["exercises"]:
        exercise["outcome"] = exercise["outcome"] if exercise["bonus"] else "passed"
    return model


@pytest.mark.parametrize(
    ("model", "options", "status"),
    [
        (all_passed(), [], 0),
        (sample.complete(), [], 1),
        (sample.complete() | {"score": 0}, ["--needed", "0.5"], 1),
        (sample.complete() | {"score": 60}, ["--needed", "60"], 0),
        (sample.model() | {"score": 60}, ["--needed", "60"], 1),  # an exercise could not be graded
        (sample.complete() | {"exercises": []}, [], 1),
    ],
)
def test_a_check_fails_until_everything_is_passed_or_there_are_enough_points(
    tmp_path: Path, capsys, model: Any, options: list[str], status: int
) -> None:
    result = tmp_path / "result.json"
    result.write_text(json.dumps(model), encoding="utf-8")

    assert main(tmp_path, "convert", ["check", str(result), *options]) == status

    output = capsys.readouterr().out
    assert (output == "check: passed\n") == (status == 0)
    assert output.count("\n") == 1
