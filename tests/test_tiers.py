"""One grading in each tier, and what the tests do on a machine that lacks a tier."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tiers
from graded import program, ran, tensormark
from tensormark.sandbox.interface import CONTAINED, TIERS
from tests.helpers import ROOT
from tiers import marked

LINE = (
    "tier contained is not tested: bubblewrap is missing; "
    "on Debian, as root: apt-get install bubblewrap libseccomp2 util-linux"
)
PROGRAMS = {  # stand-ins for the system's programs
    "dpkg-query": '[ "$4" != bubblewrap ] && echo "install ok installed"',
    "apt-get": 'echo "$@" >>"$0.calls"; [ "$1" = update ] || [ "$BROKEN" = "" ] || exit 1',
}


@pytest.mark.parametrize("tier", marked(TIERS))
def test_the_solution_passes_in_every_tier(tier: str, tmp_path: Path) -> None:
    answer = tmp_path / "result.json"
    grade = tensormark("check", "solution", "--tier", tier, "--json", str(answer))

    completed = ran(*grade, cwd=ROOT)

    assert completed.returncode == 0, completed.stderr
    result = json.loads(answer.read_text(encoding="utf-8"))
    assert (result["tier"], result["score"]) == (tier, 80), completed.stdout


def run_without_bubblewrap(require: str) -> subprocess.CompletedProcess[str]:
    """Run a test file that needs the container, where no program can be found."""
    environment = {**os.environ, "PATH": os.devnull, "REQUIRE_TIERS": require, "TRIED_TIERS": ""}
    command = [*"-m pytest -q -p no:xdist".split(), "tests/test_contained.py"]
    return ran(sys.executable, *command, cwd=ROOT / "engine", env=environment)


@pytest.mark.slow
@pytest.mark.tier(CONTAINED)
def test_a_missing_tier_is_left_out_with_one_line() -> None:
    completed = run_without_bubblewrap("")

    assert completed.returncode == 0, completed.stdout
    assert completed.stdout.count(CONTAINED) == 1
    assert LINE in completed.stdout


@pytest.mark.slow
@pytest.mark.tier(CONTAINED)
def test_a_missing_tier_that_is_required_is_an_error_before_any_test() -> None:
    completed = run_without_bubblewrap("all")

    assert completed.returncode == pytest.ExitCode.USAGE_ERROR
    assert LINE in completed.stderr
    assert "test_contained" not in completed.stdout


def test_no_package_is_blamed_for_what_only_root_can_read(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "only root can read /x: chmod -R a+rX /x"
    monkeypatch.setattr(tiers, "command_in", lambda *_: ["echo", said])

    assert tiers.missing("locked-nobody") == f"tier locked is not tested: {said}"


def install(folder: Path, user: int, **environment: str) -> tuple[str, list[str]]:
    """Run install_tiers.sh with stand-ins; return its messages and the calls of apt-get."""
    for name, line in {**PROGRAMS, "id": f"echo {user}"}.items():
        program(folder / name, line)
    environment = {"PATH": f"{folder}:/usr/bin:/bin", "BROKEN": "", **environment}
    completed = ran(ROOT / "tests" / "install_tiers.sh", env=environment)
    assert completed.returncode == 0
    calls = folder / "apt-get.calls"
    return completed.stderr, calls.read_text("utf-8").splitlines() if calls.exists() else []


def test_root_installs_what_is_missing_and_says_so(tmp_path: Path) -> None:
    messages, calls = install(tmp_path, 0)

    assert messages == "installing for the tests of the isolating tiers, with apt-get: bubblewrap\n"
    assert [call.split()[0] for call in calls] == ["update", "install"]
    assert calls[1].endswith(" bubblewrap")


def test_an_ordinary_user_installs_nothing(tmp_path: Path) -> None:
    assert install(tmp_path, 1000) == ("", [])


def test_an_installation_that_fails_does_not_end_the_tests(tmp_path: Path) -> None:
    messages, _ = install(tmp_path, 0, BROKEN="yes")

    assert messages.splitlines()[1].startswith("that failed: ")
