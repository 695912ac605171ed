"""Hostile submissions, each graded between two honest ones, in the tiers that isolate.

For root, a tier is two places, one for each user who may grade. `make nightly` grades each
submission in all of them. In `make test` each tier has one place: what goes for secrets, processes
or the system is graded in both, everything else in one.

A file of submissions/ is what a student has put after a right solution's bert.py, or after another
`file` of it. Its header says what it tries; which exercises it `loses` (ids, a file with all its
exercises, `everything` or `nothing`); which only lose the points for keeping inputs and state as
they were (`partly`); and, if it goes for the fine-tune, what comes of it there. All other exercises
of the files handed in pass in full. What many share is in shared.py, and put around their code.

A submission prints LEAKED when it has reached its target. That none does proves something only if
it could. So those that look for secrets or forbidden code have a line `control`, and those that
leak where nothing is isolated or forbidden are shown to leak. Some find nothing there either, until
a line of code has put it there.
"""

import importlib.util
import os
import re

import pytest

from places import SUBMISSIONS, TRAINING, Hostile, HostilePlace
from testkit.tiers import marked, user_places
from tests.helpers import ROOT

HOSTILE = [Hostile(path) for path in sorted(SUBMISSIONS.glob("*/*.py"))]
CHANCE = 0.6  # share of right predictions that no training gives; half of the labels are 1
# seconds for the honest submission after a hostile one, which takes one or two: grading included,
# and a machine that stands still meanwhile
RECOVERY = 30.0
# What is graded after each hostile submission: one exercise shows whether grading goes on as it
# did. All of them are graded again when a place has seen every submission.
NEXT = "embed"
LEAKING = [hostile for hostile in HOSTILE if hostile.control.startswith("leaks")]
# an archive has no history, and few have private references or results
NOT_EVERYWHERE = (".git", "reference_outputs/private", "runs")


@pytest.fixture(scope="session", params=marked(user_places()))
def place(request):
    made = HostilePlace(request.param)
    made.grade_honest()
    yield made
    made.close()


@pytest.fixture(scope="session")
def unisolated():
    """Start a driver in the tier that isolates nothing, of an assignment that forbids nothing."""
    made = HostilePlace("process")
    yield made
    made.close()


def each(chosen):
    return pytest.mark.parametrize("hostile", chosen, ids=[hostile.name for hostile in chosen])


def check_nothing_is_left(place, result):
    """Grade an honest submission; all must be as it was before the hostile one."""
    after = place.grade("", only=NEXT)

    assert "LEAKED" not in result["printed"], result["printed"]
    assert after["seconds"] < RECOVERY
    assert (
        result["left"]["marks"] == result["left"]["locks"] == result["left"]["changed files"] == []
    )
    assert after["left"] == place.honest["left"]
    assert after["exercises"] == {NEXT: place.honest["exercises"][NEXT]}


@pytest.mark.in_turns
@each([hostile for hostile in HOSTILE if not hostile.training])
def test_a_hostile_submission_scores_what_it_solves_and_leaves_nothing(place, hostile):
    result = place.grade(hostile.source, file=hostile.file, loses=list(hostile.loses))

    exercises = result["exercises"]
    report = result["report"]
    assert exercises.keys() == hostile.exercises
    assert all(e["score"] is not None for e in exercises.values()), report
    lost = {name for name, e in exercises.items() if e["score"] == 0}
    partly = {name for name, e in exercises.items() if 0 < e["score"] < e["max_score"]}
    assert (lost, partly) == (hostile.loses, hostile.partly), report
    assert "forged" not in str([e["flags"] for e in exercises.values()])
    # what is said keeps to its lines: none is forged, and none plays with a terminal
    assert all(line.isprintable() for line in report.replace("\t", " ").split("\n"))
    assert sum(line.startswith("  score ") for line in report.split("\n")) == 1
    check_nothing_is_left(place, result)


@pytest.mark.in_turns
@each([hostile for hostile in HOSTILE if hostile.training])
def test_a_hostile_fine_tune_gains_nothing(place, hostile):
    result = place.grade(hostile.source, deadline=hostile.deadline)

    if hostile.training == "refused":
        assert result["predictions"] is None, result
        assert result["text"].startswith("fine-tuning"), result
    elif hostile.training == "chance":
        assert result["accuracy"] < CHANCE, result["accuracy"]
    else:
        assert hostile.training == "same"
        assert result["predictions"] == place.trained["predictions"]
    assert result["flags"] == []
    check_nothing_is_left(place, result)


@pytest.mark.in_turns
def test_honest_training_is_far_from_chance_and_the_same_again(place):
    again = place.grade("", deadline=TRAINING)

    assert again["accuracy"] > CHANCE + 0.1
    assert again["predictions"] == place.trained["predictions"]


@pytest.mark.in_turns
def test_the_solution_scores_the_same_after_all_of_them(place):
    after = place.grade("")

    assert after["exercises"] == place.honest["exercises"]
    assert after["left"] == place.honest["left"]


# --- whether the attacks are attacks ---------------------------------------------------------


@each(LEAKING)
def test_an_attack_works_where_nothing_is_isolated_or_forbidden(unisolated, hostile):
    planted = re.search("`(.*)`", hostile.control)
    source = (planted[1] if planted else "") + "\n" + hostile.source
    result = unisolated.grade(source, file=hostile.file)

    leaks = [line for line in result["printed"].split("\n") if line.startswith("LEAKED")]
    assert leaks, result["printed"]
    for target in hostile.targets:
        path = target.replace("{ROOT}", str(ROOT))
        if not path.startswith("/") or os.access(path, os.R_OK):  # /etc/shadow is for root
            # the driver alone knows what {OTHERS} stands for
            assert any(f"{path.rpartition('}')[2]} " in line for line in leaks), target


def named_but_missing(source):
    """Return the files and modules of this repository that a submission names and that are gone."""
    files = re.findall(r'"\{ROOT\}/([^"]*)"', source)
    modules = re.findall(r'"((?:grader|instructor|solution|tensormark)(?:\.\w+)+)"', source)
    missing = [f for f in files if not (ROOT / f).exists() and not f.startswith(NOT_EVERYWHERE)]
    return missing + [module for module in modules if importlib.util.find_spec(module) is None]


def test_every_attack_on_secrets_names_what_is_there_and_says_whether_it_leaks_unisolated():
    secrets = [hostile for hostile in HOSTILE if hostile.name.startswith("secrets-")]

    assert all(hostile.control.startswith(("leaks", "none, because ")) for hostile in secrets)
    assert len(LEAKING) >= 16
    for hostile in HOSTILE:
        assert named_but_missing(hostile.source) == []
