"""Pictures of wrong values and of similar sentences show what the report and the model say."""

import json
import math
import re
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex
from test_visualize import shades, texts

from grader.assignment import ASSIGNMENT
from tensormark.judging.compare import Pair, Tolerance
from tensormark.judging.excerpt import excerpt

from colours import ABOVE, ZERO
from conftest import ROOT
from drawing import draw_errors
from last_report import difference
from sentences import Split
from small import refusal
from tokenizer import BertTokenizer
from vectors import centred_cosines, neighbours
from visualize import main

PADDING = np.array([[False, False, False, False], [False, False, True, True]])


def finding(shape: tuple[int, ...], off: float, padding: np.ndarray | None = None) -> dict:
    """Return a finding about an output of this shape, of which the last value is off."""
    expected = np.zeros(shape)
    got = expected.copy()
    got[(-1,) * len(shape)] = off
    pair = Pair("output", got, expected, Tolerance(0.0, 1e-3))
    headline = "the scores are not scaled"
    return {"headline": headline, "excerpt": excerpt(pair, ASSIGNMENT.axes, padding)}


def report(folder: Path, *exercises: dict[str, Any]) -> Path:
    """Make a folder of runs, of which only the last has these exercises."""
    folder.mkdir()
    (folder / "run-20260101T0000000000-000.json").write_text("{}", encoding="utf-8")
    last = folder / "run-20260102T0000000000-000.json"
    last.write_text(json.dumps({"version": 1, "exercises": exercises}), encoding="utf-8")
    return folder


def exercise(name: str, *findings: dict) -> dict[str, Any]:
    return {"id": name, "outcome": "FAILED" if findings else "passed", "findings": list(findings)}


WRONG = exercise("layer", {"headline": "other", "excerpt": None}, finding((2, 4, 6), 2.0, PADDING))


def test_wrong_values_are_drawn_by_token_and_unit_with_padding_marked(tmp_path, capsys) -> None:
    runs, out = report(tmp_path / "runs", exercise("attention"), WRONG), tmp_path / "errors.svg"

    assert main(["errors", "--report", str(runs), "--out", str(out)]) == 0

    output = capsys.readouterr().out
    assert output.startswith("layer: the scores are not scaled\n1 of 48 values of output differ\n")
    labels = texts(out)
    assert {"row 0", "row 1", "token", "unit", "off by"} <= set(labels)
    assert [text for text in labels if text.endswith(" pad")] == ["2 pad", "3 pad"]
    assert "layer: the scores are not scaled" in labels


def test_the_heatmap_has_the_reports_differences(tmp_path: Path) -> None:
    figure = draw_errors(finding((2, 4, 6), 2.0, PADDING)["excerpt"], "title")

    images = [axes.images[0].get_array() for axes in figure.axes if axes.images]
    assert [image.shape for image in images] == [(4, 6), (4, 6)]
    assert images[0].max() == 0.0
    assert (images[1][3, 5], np.count_nonzero(images[1])) == (2.0, 1)


def test_colours_are_those_of_the_report() -> None:
    style = (ROOT / "engine/src/tensormark/reports/report.css").read_text(encoding="utf-8")
    light = re.findall(r"--l(\d): (#\w{6})", style.partition("@media")[0])

    assert [colour for _, colour in light] == [ZERO, *ABOVE]


def test_a_value_has_the_colour_that_the_report_gives_it() -> None:
    cells = [[0.0, 1e-9, 0.41, 1.99, 2.0]]
    differences = finding((1, 5), 2.0)["excerpt"]
    differences["map"]["panels"][0]["cells"] = cells

    image = draw_errors(differences, "title").axes[0].images[0]

    colours = image.cmap(image.norm(np.array(cells[0])))
    assert [to_hex(colour) for colour in colours] == [ZERO, ABOVE[0], ABOVE[1], ABOVE[4], ABOVE[4]]


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 4, 5)])
def test_outputs_of_any_number_of_axes_are_drawn(tmp_path: Path, shape: tuple[int, ...]) -> None:
    result = exercise("pair_batch", finding(shape, math.nan))
    runs, out = report(tmp_path / "runs", result), tmp_path / "a.png"

    assert main(["errors", "pair_batch", "--report", str(runs), "--out", str(out)]) == 0

    assert shades(out) > 10


def test_the_first_exercise_with_wrong_values_is_drawn_unless_one_is_named() -> None:
    result = {"exercises": [exercise("embed", finding((2, 3), 1.0)), WRONG]}

    assert difference(result, None).exercise == "embed"
    assert difference(result, "layer").exercise == "layer"


@pytest.mark.parametrize(
    ("exercises", "arguments", "complaint"),
    [
        ([], [], "found no wrong values"),
        ([exercise("attention")], ["attention"], "says of attention: passed"),
        ([exercise("attention")], ["dance"], "has no exercise dance, only attention"),
        ([{"id": "attention"}], [], "not a report; run `make report` first"),
        (None, [], "runs: there is no report yet; run `make report` first"),
    ],
)
def test_a_report_without_wrong_values_is_refused_in_one_line(
    tmp_path: Path, capsys, exercises, arguments: list[str], complaint: str
) -> None:
    runs, out = tmp_path / "runs", tmp_path / "a.png"
    runs.mkdir() if exercises is None else report(runs, *exercises)

    assert complaint in refusal(
        main, ["errors", *arguments, "--report", str(runs), "--out", str(out)], capsys
    )
    assert not out.exists()


def test_vectors_in_the_same_direction_from_the_middle_of_all_are_near() -> None:
    around = torch.tensor([[4.0, 0.1], [-3.0, 0.0], [0.0, 5.0], [0.0, -5.0], [-1.0, -0.1]])

    cosines = centred_cosines(around + 100.0, torch.tensor([101.0, 100.0]))

    assert cosines.argmax() == 0
    assert 0.99 < cosines[0] <= 1.0
    assert cosines[1] < -0.99


def test_the_nearest_sentences_have_their_rank_in_the_other_model() -> None:
    split = types.SimpleNamespace(sentences=["a", "b", "c"], labels=torch.tensor([0, 1, 1]))
    cosines, other_cosines = torch.tensor([0.5, 0.9, 0.1]), torch.tensor([0.9, 0.2, 0.3])

    near = neighbours(cosines, other_cosines, split, 2, "after")

    assert [(text, label, rank) for text, _, label, rank in near.nearest] == [
        ("b", 1, "after: 3 of 3"),
        ("a", 0, "after: 1 of 3"),
    ]


def test_similar_sentences_are_drawn_before_and_after_fine_tuning(tmp_path, capsys) -> None:
    out = tmp_path / "similar.svg"
    options = ["--tuned", str(ROOT / "checkpoint"), "--count", "40", "--out", str(out)]

    assert main(["similarity", "harbor is not dull .", *options]) == 0

    labels = texts(out)
    tokenizer = BertTokenizer.from_pretrained(ROOT / "checkpoint")
    sentences = Split(ROOT / "data" / "dev.txt", tokenizer, 64, 40).sentences
    assert {"harbor is not dull .", "before fine-tuning: all", "after fine-tuning: all"} <= set(
        labels
    )
    assert sum(text in sentences for text in labels) == 2 * 8
    assert {"label 0", "label 1"} <= set(labels)
    output = capsys.readouterr().out
    assert len([line for line in output.splitlines() if line.endswith(" of 40)")]) == 2 * 8
