"""Progress of long work: lines in a pipe, a bar on a terminal, and nothing if it was quick."""

import sys

import pytest

import progress
from formats import Terminal
from progress import announced, counting


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    """A clock that advances by two seconds whenever it is read."""
    times = [0.0]

    def monotonic() -> float:
        times[0] += 2.0
        return times[0]

    monkeypatch.setattr(progress, "monotonic", monotonic)
    return times


def test_long_work_reports_its_progress_in_lines(clock, capsys) -> None:
    assert list(progress.progress("abcdef", 6, "reading")) == list("abcdef")

    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "reading 1 of 6"
    assert 1 < len(lines) < 5


def test_quick_work_prints_nothing(monkeypatch, capsys) -> None:
    monkeypatch.setattr(progress, "monotonic", lambda: 7.0)

    assert list(progress.progress("abc", 3, "reading")) == ["a", "b", "c"]

    assert capsys.readouterr().err == ""


def test_a_terminal_shows_a_bar(monkeypatch) -> None:
    monkeypatch.setattr(progress, "QUIET", 0.0)
    monkeypatch.setattr(sys, "stderr", Terminal())

    with counting(3, "reading") as advance:
        advance()
        output = sys.stderr.getvalue()

    assert "reading" in output
    assert "0/3" in output


def test_an_announcement_is_a_line_that_a_terminal_erases(monkeypatch, capsys) -> None:
    with announced("loading"):
        pass
    assert capsys.readouterr().err == "loading ...\n"

    monkeypatch.setattr(sys, "stderr", Terminal())
    with announced("loading"):
        assert sys.stderr.getvalue() == "loading ..."
    assert sys.stderr.getvalue().endswith(progress.ERASE)
