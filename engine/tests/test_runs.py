"""The runs that are saved beside the page, and what has changed between two of them."""

import json
import os
from pathlib import Path

import pytest

import sample
from tensormark.reports import browser, runs


def run(score: float, outcome: str, started: str, submission: str = "starter") -> runs.Model:
    model = sample.model() | {"submission": submission}
    model["exercises"][0] |= {"score": score, "outcome": outcome}
    model["time"] = {"started": started, "seconds": 1.0}
    return model


FIRST = run(0, "failed", "2026-11-22T10:00:00+00:00")
SECOND = run(25, "passed", "2026-11-22T11:00:00+00:00")


def test_the_first_run_has_nothing_to_compare_with(tmp_path: Path) -> None:
    assert runs.with_changes(tmp_path / "new", FIRST)["changes"] is None


def test_what_changed_since_the_last_run_is_reported(tmp_path: Path) -> None:
    runs.with_changes(tmp_path, FIRST)

    changes = runs.with_changes(tmp_path, SECOND)["changes"]

    before = {"outcome": "failed", "score": 0}
    after = {"outcome": "passed", "score": 25}
    changed = {"id": "attention", "before": before, "after": after}
    assert changes == {"since": "2026-11-22T10:00:00+00:00", "exercises": [changed]}


def test_runs_of_another_submission_are_not_compared_with(tmp_path: Path) -> None:
    runs.with_changes(tmp_path, run(0, "failed", "2026-11-22T10:00:00+00:00", "other"))

    assert runs.with_changes(tmp_path, SECOND)["changes"] is None


def test_exercises_of_only_one_run_are_not_compared(tmp_path: Path) -> None:
    runs.with_changes(tmp_path, FIRST | {"exercises": FIRST["exercises"][1:]})

    assert runs.with_changes(tmp_path, SECOND)["changes"]["exercises"] == []


def changed(**parts: object) -> str:
    """Return the text of a saved run with another exercise."""
    model = json.loads(json.dumps(FIRST))
    model["exercises"][0] |= parts
    return json.dumps(model)


ODD = {
    "empty": "",
    "cut off": "{",
    "list": "[]",
    "only a version": '{"version": 1}',
    "no exercises": '{"version": 1, "exercises": 3}',
    "deep": "[" * 100_000,
    "large": " " * (9 << 20) + "{}",
    "digits": '{"version": 1' + "0" * 5000 + "}",
    "outcome": changed(outcome="<b>"),
    "unhashable": changed(outcome=[]),
    "score": changed(score="x"),
    "infinite": changed(score=float("inf")),
    "too large a number": changed(score=10**400),
    "id": changed(id=["x"]),
    "time": json.dumps(run(0, "failed", "x")),
}


@pytest.mark.parametrize("name", [*ODD, "link", "pipe", "folder", "endless"])
def test_an_odd_run_is_passed_over_with_one_line(tmp_path: Path, capsys, name: str) -> None:
    runs.with_changes(tmp_path / ".grade", FIRST)
    path = tmp_path / ".grade" / "run-9.json"
    (tmp_path / "elsewhere.json").write_text(json.dumps(FIRST), encoding="utf-8")
    if name in ODD:
        path.write_text(ODD[name], encoding="utf-8")
    elif name == "pipe":
        os.mkfifo(path)
    elif name == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero" if name == "endless" else "../elsewhere.json")

    changes = runs.with_changes(tmp_path / ".grade", SECOND)["changes"]

    assert changes["since"] == FIRST["time"]["started"]
    line = f"  {tmp_path}/.grade: skipped run-9.json, not readable as an earlier run\n"
    assert capsys.readouterr().out == line


def test_a_run_that_cannot_be_saved_is_one_line(tmp_path: Path, capsys) -> None:
    (tmp_path / ".grade").touch()

    assert runs.with_changes(tmp_path / ".grade", FIRST)["changes"] is None
    (line,) = capsys.readouterr().out.splitlines()
    assert "cannot save this run" in line


def test_only_the_last_runs_are_kept(tmp_path: Path) -> None:
    for minute in range(runs.MAX_RUNS + 5):
        runs.save(tmp_path, run(0, "failed", f"2026-11-22T10:{minute:02}:00+00:00"))

    times = [json.loads(path.read_text("utf-8"))["time"]["started"] for path in tmp_path.iterdir()]
    assert len(times) == runs.MAX_RUNS
    assert min(times) == "2026-11-22T10:05:00+00:00"


def test_two_runs_in_one_second_are_both_saved(tmp_path: Path) -> None:
    runs.save(tmp_path, FIRST)
    runs.save(tmp_path, FIRST)

    assert len(runs.run_files(tmp_path)) == 2


def test_without_a_display_no_browser_is_started(tmp_path: Path, monkeypatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(browser.sys, "platform", "linux")
    monkeypatch.setattr(browser.webbrowser, "open", lambda url: pytest.fail(url))

    assert browser.show(tmp_path / "report.html") is False


def test_the_page_is_opened_from_the_disk(tmp_path: Path, monkeypatch) -> None:
    opened: list[str] = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(browser.webbrowser, "open", lambda url: opened.append(url) is None)

    assert browser.show(tmp_path / "a b.html") is True
    assert opened == [(tmp_path / "a%20b.html").as_uri().replace("%2520", "%20")]
