"""The result model, and the formats that are drawn from it; the golden corpus has what they say."""

import json
import re

import jsonschema
import numpy as np
import pytest

from tensormark.cli import run
from tensormark.judging.compare import Pair, Tolerance
from tensormark.judging.excerpt import excerpt
from tensormark.reports import html, pages
from tensormark.reports.convert import FORMATS
from tensormark.toolkit.training import confusion, loss_curve
from testkit import formats, sample
from testkit.formats import Tags

AXES = {3: ("row", "token", "unit")}

# --- the model ----------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [sample.model(), sample.complete()])
def test_a_result_with_everything_in_it_fits_the_schema_and_every_format(model):
    jsonschema.Draft202012Validator.check_schema(formats.SCHEMA)
    formats.check_model(model)
    formats.check_all(model)
    del model["printed"]
    with pytest.raises(jsonschema.ValidationError):
        formats.check_model(model)


@pytest.mark.parametrize("share", [0.5, 0.999])
@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (2, 3, 4, 5), (1, 400, 300), (40, 2, 2)])
def test_an_excerpt_of_any_shape_is_small_and_says_where_it_is_worst(shape, share):
    expected = np.zeros(shape)
    expected.flat[1:2] = 100.0  # where more is allowed
    got = expected.copy()
    worst = tuple(int(share * size) for size in shape)
    got[worst] += 3.0

    result = excerpt(Pair("output", got, expected, Tolerance(0.5, 1.0)), AXES, None)

    assert result["worst"]["index"] == list(worst)
    assert result["wrong"] == sum(result["row"]["wrong"]) == 1
    assert len(json.dumps(result)) < 40_000
    assert max(result["map"]["steps"]) < 20
    if len(shape) < 3 or shape[0] < 6:
        assert max(np.max(panel["cells"]) for panel in result["map"]["panels"]) == 3.0


def test_an_excerpt_of_nan_and_inf_is_json_and_of_nothing_is_none():
    got = np.array([[np.nan, 1.0], [np.inf, 2.0]])
    empty = np.zeros((0, 3))

    result = excerpt(Pair("output", got, np.ones((2, 2)), Tolerance(0.0, 1e-6)), AXES, None)

    json.dumps(result, allow_nan=False)
    assert result["map"]["panels"][0]["cells"] == [[None, 0.0], [None, 1.0]]
    assert result["row"]["got"][0] in ("nan", "inf")
    assert excerpt(Pair("output", empty, empty, Tolerance(0.0, 0.0)), AXES, None) is None


# --- what a training measured -------------------------------------------------------------------


def test_a_curve_has_few_points_and_no_nan():
    losses = np.full(5000, 0.5, np.float32)
    losses[:60] = np.nan
    odd = [np.zeros((2, 2), np.float32), np.zeros(3), np.zeros(1, np.float32), np.zeros(2, "i8")]

    (curve,) = loss_curve({"out/losses": losses})

    assert len(curve["values"]) == 100
    assert (curve["values"][0], curve["values"][-1]) == (None, 0.5)
    assert [loss_curve({"out/losses": array}) for array in odd] == [[]] * 4
    assert loss_curve({}) == []


def test_predictions_outside_the_classes_are_left_out():
    labels = np.array([0, 1, 1, 0])
    predictions = np.array([0, 7, -3, 1])

    table = confusion(labels, predictions, ["a", "b", "c", "d"], ("bad", "good"))

    assert table["confusion"] == [[1, 1], [0, 0]]
    assert table["misread"] == [{"text": "d", "expected": "bad", "got": "good"}]


# --- the page and the handout ---------------------------------------------------------------------


def test_the_page_asks_for_nothing_and_runs_nothing():
    page = html.page(sample.model())

    (policy,) = (a["content"] for _, a in Tags(page).elements if "http-equiv" in a)
    assert str(policy).startswith("default-src 'none'; style-src 'sha256-")
    assert not re.search(r"<(script|img|link|iframe|object|form)\b", page)
    assert not re.search(r"\b(src|on\w+|style)=", page)
    assert not re.search("https?://", page)
    assert len(html.page(sample.largest()).encode()) < 1_500_000


def test_links_lead_to_the_handout_that_is_there():
    model = sample.model()
    model["exercises"][0]["handout"][0]["page"] = "javascript:alert(1)"

    there = html.page(model, html.HandoutLinks("../", (".html",)))

    assert '<a href="../handout.html#the-mask">The mask</a></li>' in there
    assert "In the handout" not in html.page(model, html.NO_HANDOUT)
    assert "javascript" not in there


def test_a_page_is_opened_from_the_disk_if_there_is_a_display(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(pages.sys, "platform", "linux")
    monkeypatch.setattr(pages.webbrowser, "open", lambda url: opened.append(url) is None)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)

    assert pages.show(tmp_path / "report.html") is False
    monkeypatch.setenv("DISPLAY", ":0")
    assert pages.show(tmp_path / "a b.html") is True

    assert opened == [f"{tmp_path.as_uri()}/a%20b.html"]


# --- other formats ------------------------------------------------------------------------------


def convert(folder, name, text):
    """Convert a file with a text, or a result; return the exit status."""
    path = folder / "x.json"
    path.write_text(text if isinstance(text, str) else json.dumps(text), "utf-8")
    return run(folder, "convert", [name, str(path)])


@pytest.mark.parametrize("name", FORMATS)
def test_a_result_becomes_any_format(tmp_path, capsys, name):
    assert convert(tmp_path, name, sample.model()) == 0
    assert capsys.readouterr().out
    for text in ("", "[]", "{}", '{"version": 2}', '{"version": 1}', "[" * 99999):
        assert convert(tmp_path, name, text) == 2
        assert "x.json" in capsys.readouterr().err
