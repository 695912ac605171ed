"""The check on GitHub: red until there is enough."""

import json
from pathlib import Path
from typing import Any

import pytest

from tensormark.reports.convert import main

import sample


def passed() -> Any:
    model = sample.complete()
    for one in model["exercises"]:
        one["outcome"] = one["outcome"] if one["bonus"] else "passed"
    return model


@pytest.mark.parametrize(
    ("model", "options", "status"),
    [
        (passed(), [], 0),
        (sample.complete(), [], 1),
        (sample.complete() | {"score": 0}, ["--needed", "0.5"], 1),
        (sample.complete() | {"score": 60}, ["--needed", "60"], 0),
        (sample.model() | {"score": 60}, ["--needed", "60"], 1),  # one could not be graded
        (sample.complete() | {"exercises": []}, [], 1),
    ],
)
def test_a_check_fails_until_everything_is_passed_or_there_are_enough_points(
    tmp_path: Path, capsys, model: Any, options: list[str], status: int
) -> None:
    result = tmp_path / "result.json"
    result.write_text(json.dumps(model), encoding="utf-8")

    assert main(tmp_path, "convert", ["check", str(result), *options]) == status

    said = capsys.readouterr().out
    assert (said == "check: passed\n") == (status == 0)
    assert said.count("\n") == 1
