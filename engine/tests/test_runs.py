"""The run that is kept beside the page, and what has changed since."""

import json
import os
from pathlib import Path

import pytest

from tensormark.reports import browser, runs
from testkit import sample


def run(score: float, outcome: str, started: str, submission: str = "starter") -> runs.Model:
    model = sample.model() | {"submission": submission}
    model["exercises"][0] |= {"score": score, "outcome": outcome}
    model["time"] = {"started": started, "seconds": 1.0}
    return model


FIRST = run(0, "failed", "2026-11-22T10:00:00+00:00")
SECOND = run(25, "passed", "2026-11-22T11:00:00+00:00")
OTHER = run(0, "failed", "2026-11-22T12:00:00+00:00", "other")


def test_what_changed_since_the_last_run_of_the_same_submission_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    since = [runs.with_changes(folder, each)["changes"] for each in (FIRST, OTHER, SECOND, SECOND)]

    before = {"outcome": "failed", "score": 0}
    after = {"outcome": "passed", "score": 25}
    changed = {"id": "attention", "before": before, "after": after}
    assert since == [
        None,
        None,
        {"since": "2026-11-22T10:00:00+00:00", "exercises": [changed]},
        {"since": "2026-11-22T11:00:00+00:00", "exercises": []},
    ]


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
    "only a version": '{"version": 2}',
    "another version": json.dumps(FIRST | {"version": 1}),
    "no exercises": '{"version": 2, "exercises": 3}',
    "deep": "[" * 100_000,
    "large": " " * (9 << 20) + "{}",
    "digits": '{"version": 2' + "0" * 5000 + "}",
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
    path = runs.run_file(tmp_path, SECOND)
    (tmp_path / "elsewhere.json").write_text(json.dumps(FIRST), encoding="utf-8")
    if name in ODD:
        path.write_text(ODD[name], encoding="utf-8")
    elif name == "pipe":
        os.mkfifo(path)
    elif name == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero" if name == "endless" else "elsewhere.json")

    assert runs.with_changes(tmp_path, SECOND)["changes"] is None

    first, *_ = capsys.readouterr().out.splitlines()
    assert first == f"  {path}: not readable as an earlier run"
    assert name == "folder" or runs.with_changes(tmp_path, SECOND)["changes"] is not None


def test_a_run_that_cannot_be_saved_is_one_line(tmp_path: Path, capsys) -> None:
    (tmp_path / ".grade").touch()

    assert runs.with_changes(tmp_path / ".grade", FIRST)["changes"] is None
    assert "cannot save this run" in capsys.readouterr().out.splitlines()[-1]


def test_a_page_is_opened_from_the_disk_if_there_is_a_display(tmp_path: Path, monkeypatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(browser.sys, "platform", "linux")
    monkeypatch.setattr(browser.webbrowser, "open", lambda url: opened.append(url) is None)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)

    assert browser.show(tmp_path / "report.html") is False
    monkeypatch.setenv("DISPLAY", ":0")
    assert browser.show(tmp_path / "a b.html") is True

    assert opened == [f"{tmp_path.as_uri()}/a%20b.html"]
