"""Which tiers this machine supports; hooks.py skips tests of the others.

A place is a tier for the user who runs the tests ("contained") or, if that is root, a tier for one
of two users ("locked-user"). As a program, this tries one tier and prints what is missing.
"""

import functools
import itertools
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tensormark.sandbox.interface import WorkerStartError
from tensormark.sandbox.tiers import ISOLATING, PROCESS, TIERS
from testkit.asking import ask, sandbox_of
from testkit.opened import open_to_others

HERE = Path(__file__).resolve().parent
AS_USER = HERE / "as_user.sh"
USERS = {"root": 0, "user": 54321}  # the latter belongs to nobody
INSTALL = "apt-get install bubblewrap libseccomp2 util-linux"
NIGHTLY = bool(os.environ.get("NIGHTLY"))  # as in `make nightly`: every case, in every place
EVERYWHERE = NIGHTLY or os.environ.get("PLACES") == "all"
REQUIRED = os.environ.get("REQUIRE_TIERS") == "all"  # as in .ci/run: nothing is skipped
# by place what `missing` returns, if the places were tried for several processes
TRIED = json.loads(os.environ.get("TRIED_TIERS") or "{}")


def user_places():
    """Return the isolating tiers; for root, each with both users."""
    if os.getuid() != 0:
        return list(ISOLATING)
    return list(map("-".join, itertools.product(ISOLATING, USERS)))


def has_turn(place, number, in_each_tier):
    """Return whether case `number` is tested in a place: in one, or in one of each tier.

    The tiers take turns; for root, each with another user.
    """
    if EVERYWHERE:
        return True
    places = user_places()
    if len(places) > len(ISOLATING):
        places = places[:: len(USERS) + 1]  # the diagonal of tiers and users
    return place in places and (in_each_tier or place == places[number % len(places)])


def marked(places):
    """Return places as parameters that skip a test where their tier is missing."""
    return [pytest.param(place, marks=pytest.mark.tier(place)) for place in places]


def command_in(place, *command):
    """Return a command as the user of a place runs it."""
    _, _, user = place.partition("-")
    return [str(AS_USER), str(USERS[user]), *command] if user else list(command)


@functools.cache
def missing(place):
    """Open a sandbox there; return a line on why its tests are skipped, or an empty one."""
    if place == PROCESS:
        return ""  # every machine has it
    if place in TRIED:
        return TRIED[place]
    tier = place.partition("-")[0]
    command = command_in(place, sys.executable, "-m", "testkit.tiers", tier)
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    try:
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        output = str(error)
    else:
        output = run.stdout if run.returncode == 0 else run.stderr or f"exit {run.returncode}"
    fault, install, _ = output.strip().rpartition("\n")[2].partition(": apt-get")
    cure = f"; on Debian, as root: {INSTALL}" if install else ""
    return fault and f"tier {tier} is not tested: {fault}{cure}"


def tried():
    """Try every place; return what is missing, by place."""
    places = list({*TIERS, *user_places()})
    with ThreadPoolExecutor() as pool:  # each takes seconds, mostly to import torch
        return dict(zip(places, pool.map(missing, places), strict=True))


def required_but_missing():
    """Return a line for each reason why a required tier is missing."""
    return sorted({line for line in tried().values() if line}) if REQUIRED else []


def main():
    if len(sys.argv) == 1:
        open_to_others()
        print(json.dumps(tried()))
        return
    try:
        with sandbox_of(sys.argv[1]) as sandbox:
            (reply,) = sandbox.run([ask("double")])
    except WorkerStartError as error:
        print(error)
    else:
        print(reply.text)


if __name__ == "__main__":
    main()
