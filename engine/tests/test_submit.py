"""`tensormark submit` packs a student's work, and grades it in the strictest tier available."""

import sys

import pytest

from tensormark import strictest
from tensormark.cli import run
from tensormark.sandbox import seccomp
from tensormark.sandbox.server import SERVERS
from tensormark.sandbox.tiers import CONTAINED, LOCKED, PROCESS, TIERS
from tensormark.settings import Settings
from testkit import toy


def test_work_is_packed_into_nothing_but_a_file(folder, capsys):
    assert run(folder, "submit", ["solution", "--out", "/dev/null"]) == 2

    (line,) = capsys.readouterr().err.splitlines()
    assert "is not a regular file" in line


def test_work_that_cannot_be_read_is_one_line_and_nothing_is_packed(folder, tmp_path, capsys):
    assert run(folder, "submit", [str(tmp_path), "--out", str(tmp_path / "a.zip")]) == 2

    (line,) = capsys.readouterr().err.splitlines()
    assert f"no {toy.MAIN}" in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("lacking", range(len(TIERS) + 1))
def test_the_first_tier_that_runs_a_call_is_taken(assignment, monkeypatch, lacking):
    missing = {tier: f"{tier} is missing" for tier in TIERS[:lacking]}
    monkeypatch.setattr(strictest, "fault_of", lambda _, tier, __: missing.get(tier))

    result = strictest.strictest(assignment, Settings.of(assignment.folder))

    assert result.tier == (*TIERS, None)[lacking]
    assert result.reasons == tuple(f"{tier}: {tier} is missing" for tier in TIERS[:lacking])


@pytest.mark.tier(CONTAINED)
def test_a_tier_that_cannot_start_is_a_fault(assignment, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyseccomp", None)
    monkeypatch.setattr(seccomp, "compiled", seccomp.compiled.__wrapped__)  # without its cache

    SERVERS.close()  # which have been started with it

    settings = Settings.of(assignment.folder)
    for tier in (CONTAINED, LOCKED):
        assert "apt-get install libseccomp2" in str(strictest.fault_of(assignment, tier, settings))
    assert strictest.fault_of(assignment, PROCESS, settings) is None
