"""What takes long says so: lines in a pipe, a bar on a terminal, and nothing if it was quick."""

import io
import sys

import pytest

import progress
from progress import announced, counting


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    """A clock that goes on by two seconds with each look at it."""
    times = [0.0]

    def monotonic() -> float:
        times[0] += 2.0
        return times[0]

    monkeypatch.setattr(progress, "monotonic", monotonic)
    return times


def test_what_takes_long_says_how_much_is_done_in_lines(clock, capsys) -> None:
    assert list(progress.progress("abcdef", 6, "reading")) == list("abcdef")

    said = capsys.readouterr().err.splitlines()
    assert said[0] == "reading 1 of 6"
    assert 1 < len(said) < 5


def test_what_is_quick_says_nothing(monkeypatch, capsys) -> None:
    monkeypatch.setattr(progress, "monotonic", lambda: 7.0)

    assert list(progress.progress("abc", 3, "reading")) == ["a", "b", "c"]

    assert capsys.readouterr().err == ""


def test_on_a_terminal_there_is_a_bar(monkeypatch) -> None:
    monkeypatch.setattr(progress, "QUIET", 0.0)
    monkeypatch.setattr(sys, "stderr", Terminal())

    with counting(3, "reading") as done:
        done()
        said = sys.stderr.getvalue()

    assert "reading" in said
    assert "0/3" in said


def test_what_begins_is_a_line_and_on_a_terminal_goes_away(monkeypatch, capsys) -> None:
    with announced("loading"):
        pass
    assert capsys.readouterr().err == "loading ...\n"

    monkeypatch.setattr(sys, "stderr", Terminal())
    with announced("loading"):
        assert sys.stderr.getvalue() == "loading ..."
    assert sys.stderr.getvalue().endswith(progress.ERASE)
