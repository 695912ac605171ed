"""How a handout of several pages explains a message; the golden corpus has where a problem is."""

from dataclasses import replace

import pytest

from tensormark.handout import Handout
from tensormark.toolkit.statistics import Statistic, Statistics
from testkit.trials import (
    OUTPUT,
    OWN_CALL,
    VALUES,
    assignment,
    finding,
    make_exercise,
    reply,
    trial,
)

MAIN_PAGE = """# A course

### Problem (layer): a layer (10 points)

**The scale**. Once.

<details><summary>If you see ...</summary>

- `it is doubled`, `the output is wrong`: the scale
  counts [once](#a), **not** twice.
- `raised ValueError: no`: somebody raised it.
- `the axes of the output ...`: transpose it.
</details>

## Everywhere

- `... should have shape ...`: compare the numbers.
- `the output is wrong`: look elsewhere.
"""
SECOND_PAGE = """# More

## The rate

### Problem (rate): a rate (10 points)

- `the output is wrong`: it is a rate. See [the scale](../handout.md#everywhere).
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "handout").mkdir()
    (tmp_path / "handout.md").write_text(MAIN_PAGE, "utf-8")
    (tmp_path / "handout" / "more.md").write_text(SECOND_PAGE, "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("exercise", "line", "explanations"),
    [
        ("layer", "it is doubled", ["the scale counts once, not twice"]),
        ("rate", "the output is wrong", ["it is a rate. See the scale"]),
        ("layer", "raised ValueError: no (main.py, line 3)", ["somebody raised it"]),
        ("rate", "raised ValueError: x should have shape (1,), got (2,)", []),
        ("layer", "it is doubled, and it is shifted", []),
    ],
)
def test_messages_are_explained_as_in_the_handout(folder, exercise, line, explanations):
    assert Handout(folder).explanation(exercise, ["a line of its own", line]) == explanations


def test_values_that_cannot_be_compared_are_not_explained_and_noted_once(folder):
    def read(out, _):
        first = out["output"][0, 0]
        return [{0.0: first}[first % 1]]

    examine = Statistics([Statistic("the first is off", 1.0)], read)
    layer = make_exercise("layer", replace(VALUES, calls=(OWN_CALL,), examine=examine))
    toy = replace(assignment(layer), folder=folder)
    layer_trial = replace(trial(reply(OUTPUT + 0.5), exercise=layer), assignment=toy)

    problem = finding(layer_trial)

    assert problem.details[-2] == "its answer could not be compared: KeyError"
    assert [trouble.split(" ")[0] for trouble in layer_trial.troubles] == ["KeyError"]
