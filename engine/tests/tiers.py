"""Which tiers this machine can give; conftest.py leaves out the tests of those that it cannot.

A place is a tier for the user who runs the tests ("contained"), or, from root, a tier for one of
two users ("locked-user"). As a script, this tries one tier and prints what it lacks.
"""

import functools
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tensormark.sandbox.interface import LOCKED, PROCESS, TIERS, WorkerStartError

from asking import ask, sandbox_of

HERE = Path(__file__).resolve().parent
AS_USER = HERE / "as_user.sh"
USERS = {"root": 0, "user": 54321}  # the latter is nobody's
ISOLATING = [tier for tier in TIERS if tier != PROCESS]
INSTALL = "apt-get install bubblewrap libseccomp2 util-linux"
NIGHTLY = bool(os.environ.get("NIGHTLY"))  # as in `make nightly`: every case, and no turns
EVERYWHERE = NIGHTLY or os.environ.get("PLACES") == "all"
# As in .ci/run: nothing is left out. Where tiers were tried by a run beside this one, "checked".
REQUIRED = os.environ.get("REQUIRE_TIERS") in ("all", "checked")


def own_tiers() -> list[str]:
    """Return the tiers that the tests themselves can open: all, or from root perhaps not `locked`.

    There a submission runs as another user, who cannot use a Python that lies in root's home.
    """
    python = Path(sys.base_prefix)
    hidden = any(not folder.stat().st_mode & 0o001 for folder in (python, *python.parents))
    return [tier for tier in TIERS if tier != LOCKED or os.getuid() != 0 or not hidden]


def user_places() -> list[str]:
    """Return the isolating tiers, from root for each of two users."""
    if os.getuid() != 0:
        return ISOLATING
    return [f"{tier}-{user}" for tier in ISOLATING for user in USERS]


def has_turn(place: str, number: int, in_each_tier: bool) -> bool:
    """Say whether what has this number is tested in a place: in one, or in one of each tier.

    All places have their turn, one after the other.
    """
    places = user_places()
    if EVERYWHERE:
        return True
    if not in_each_tier:
        return places.index(place) == number % len(places)
    users = len(places) // len(ISOLATING)
    tier, user = divmod(places.index(place), users)
    return (number + tier + user) % users == 0


def place_of_each_tier() -> list[str]:
    """Return one place for each tier; as_user.sh opens the way to a Python in root's home."""
    return [tier if tier in own_tiers() else f"{tier}-root" for tier in TIERS]


def marked(places: list[str]) -> list[object]:
    """Return places as parameters; a test that is given one is left out where it is missing."""
    return [pytest.param(place, marks=pytest.mark.tier(place)) for place in places]


def command_in(place: str, *command: str) -> list[str]:
    """Return a command as the user of a place runs it."""
    _, _, user = place.partition("-")
    return [str(AS_USER), str(USERS[user]), *command] if user else list(command)


def run_in_locked(file: str) -> subprocess.CompletedProcess[str]:
    """Run a file's tests of the tier `locked`, where the tests themselves cannot open it."""
    tests = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-k", LOCKED, file]
    return subprocess.run(
        command_in("locked-root", *tests),
        env={**os.environ, "REQUIRE_TIERS": ""},  # which has been looked at already
        cwd=Path(file).resolve().parents[1],  # where pytest finds its settings
        capture_output=True,
        text=True,
        check=False,
    )


@functools.cache
def missing(place: str) -> str:
    """Open a sandbox there; return a line that says why its tests are left out, or nothing."""
    if place == PROCESS:
        return ""  # every machine can give it
    tier = place.partition("-")[0]
    command = command_in(place, sys.executable, __file__, tier)
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        said = str(error)
    else:
        said = done.stdout if done.returncode == 0 else done.stderr or f"exit {done.returncode}"
    fault = said.strip().rpartition("\n")[2].partition(": apt-get")[0]
    return fault and f"tier {tier} is not tested: {fault}; on Debian, as root: {INSTALL}"


def required_but_missing() -> list[str]:
    """Return a line for each reason why a required tier cannot be had."""
    tried = os.environ.get("REQUIRE_TIERS") == "checked"
    places = {*own_tiers(), *user_places()} if REQUIRED and not tried else set()
    with ThreadPoolExecutor() as pool:  # each takes seconds, most of them to import torch
        return sorted({line for line in pool.map(missing, places) if line})


def main() -> None:
    try:
        with sandbox_of(sys.argv[1]) as sandbox:
            (reply,) = sandbox.run([ask("double")])
    except WorkerStartError as error:
        print(error)
    else:
        print(reply.text)


if __name__ == "__main__":
    main()
