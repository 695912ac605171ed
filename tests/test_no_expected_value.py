"""With private references no report holds an expected value, unless the instructor asks for it."""

import contextlib
import io
import json
import re

import numpy as np
import pytest

from tensormark.references import References
from tensormark.reports import html, platforms
from tensormark.reports.terminal import Report
from tests.helpers.answering import PROBED, PUBLIC, grade

VALUE = re.compile(r"\d+\.\d{4}")  # as a line of a report has it


def reports(found):
    """Return every report of a grade."""
    model = found.as_json()
    terminal = io.StringIO()
    with contextlib.redirect_stdout(terminal):
        for result in found.results:
            Report().result(result)
    forms = (html.page, platforms.gradescope, platforms.summary, json.dumps)
    return terminal.getvalue() + "".join(write(model) for write in forms)


def at_a_place(value):
    result = value.copy()
    result.ravel()[value.size // 2] = 1e4
    return result


WRONG = {
    "at a place": at_a_place,
    "off by the same amount": lambda value: value + 0.25,
    "not a number": lambda value: np.where(value == value.max(), np.nan, value),
    "another shape": lambda value: value[None],
    "in another order": lambda value: np.flip(value, -1) if value.ndim else -value,
}


def wrong(spoil):
    """Return a change that makes every tensor of every answer wrong."""

    def change(message, tensors):
        results = {n: spoil(v) if v.dtype.kind == "f" else v + 1 for n, v in tensors.items()}
        return message, {n: np.ascontiguousarray(v, tensors[n].dtype) for n, v in results.items()}

    return change


@pytest.fixture(scope="module")
def values():
    """The values of the references as reports write them, without common ones."""
    arrays = []
    for exercise in PROBED:
        for recording in PUBLIC.recordings(exercise.id, exercise.digest):
            arrays += [*recording.outputs.values(), *recording.gradients.values()]
    floats = np.concatenate([array.ravel() for array in arrays if array.dtype.kind == "f"])
    written = {f"{abs(value):.4f}" for value in floats}
    return frozenset(value for value in written if float(value) % 0.05)


@pytest.mark.parametrize("spoil", WRONG.values(), ids=WRONG)
def test_no_report_holds_a_value_of_a_private_reference(values, spoil, monkeypatch):
    monkeypatch.setattr(References, "private", property(lambda _: True))

    found = grade(wrong(spoil))

    text = reports(found)
    assert found.sums()[0] < 30
    assert values.intersection(VALUE.findall(text)) == set()
    assert not re.search(r"expected [^ ]+, got|allowed difference|off by -?\d", text)
    for result in found.results:
        assert all(finding.excerpt is None for finding in result.findings)


def test_expected_values_are_shown_of_private_references_where_they_are_asked_for(
    values, monkeypatch
):
    monkeypatch.setattr(References, "private", property(lambda _: True))

    text = reports(grade(wrong(at_a_place), show_text=True))

    assert values.intersection(VALUE.findall(text))
