"""Whatever a submission answers, only the exercise that it answers can fail.

The tests take the real path, from an answer's bytes to the grade and all of its reports, and leave
out only the processes. FUZZ=long tries 100,000 answers.
"""

import itertools
import json
import os
import random
import struct
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from grader.assignment import ASSIGNMENT
from tensormark.judging.checks import CHECKS, wrong_output
from tensormark.judging.compare import Mismatch
from tensormark.judging.evidence import Evidence
from tensormark.judging.fingerprints import MAX_VALUES, AnsweredCall, projections
from tensormark.result import Outcome, Result
from tensormark.sandbox.interface import Limits, Request
from tests.helpers.mangled import mangled
from tests.helpers.scripted_worker import Answer, Right, reported, unchanged

LONG = os.environ.get("FUZZ") == "long"
FIRST = int(os.environ.get("FUZZ_FROM", "0"))
ANSWERS = 100_000 if LONG else 300
IDS = [exercise.id for exercise in ASSIGNMENT.exercises]
SHAPES = itertools.count(1)
ATTENTION = [ASSIGNMENT.exercise("attention")]

pytestmark = pytest.mark.timeout(36_000 if LONG else 600)


@pytest.fixture(scope="module")
def right() -> Right:
    return Right()


def is_clear(result: Result) -> bool:
    """Return whether a failed exercise says why, in printable lines of limited length."""
    lines = [line for finding in result.findings for line in (finding.headline, *finding.details)]
    return bool(lines) and all(line and line.isprintable() and len(line) < 1200 for line in lines)


def hit_by(rng: random.Random, target: str):
    """Return a function that mangles answers to the target exercise: one of them, or any."""
    every_call = rng.random() < 0.3
    mangled_calls = []

    def change(request: Request, answer: Answer) -> Answer | bytes:
        if request.exercise != target or (mangled_calls and not every_call) or rng.random() < 0.3:
            return answer
        mangled_calls.append(True)
        return mangled(rng, answer)

    return change


def test_any_answer_fails_its_own_exercise_or_none(right: Right) -> None:
    assert {result.outcome for result in right.grade().results} == {Outcome.PASSED}
    failed = 0
    for seed in range(FIRST, FIRST + ANSWERS):
        rng = random.Random(seed)
        target = rng.choice(IDS)
        exercises = [ASSIGNMENT.exercise(target)] if seed % 20 else ASSIGNMENT.exercises
        start = time.process_time()

        grade = right.grade(hit_by(rng, target), exercises)

        text = reported(grade)
        assert time.process_time() - start < 2, seed
        assert text.isprintable() or "\x1b" not in text
        for result in grade.results:
            outcome = result.outcome
            if result.id != target:
                blocked = outcome is Outcome.BLOCKED  # the answer claimed a hole in the code
                assert blocked or result.score == result.max_score, (seed, result)
                continue
            assert outcome is not Outcome.COULD_NOT_GRADE, (seed, result)
            assert outcome is not Outcome.FAILED or is_clear(result), (seed, result)
            assert not result.flags or target == "sentiment", (seed, result.flags)
            failed += outcome is Outcome.FAILED
    assert failed > ANSWERS // 3


# --- whose fault an exception is ----------------------------------------------------------------


def wrong(request: Request, answer: Answer) -> Answer:
    """Answer 4.0 everywhere, which is far from every right value."""
    return Answer(answer.message, answer.listed, b"\x00\x00\x80\x40" * (len(answer.data) // 4))


def breaking(monkeypatch, when: Callable[[AnsweredCall], bool], error: Exception):
    """Make the comparison of those outputs for which `when` holds raise an error."""

    def broken(evidence: Evidence, answered: AnsweredCall) -> Mismatch | None:
        if when(answered):
            raise error
        return wrong_output(evidence, answered)

    checks = {broken if check is wrong_output else check: part for check, part in CHECKS.items()}
    monkeypatch.setattr("tensormark.judging.trial.CHECKS", checks)


def is_fours(answered: AnsweredCall) -> bool:
    """Return whether an answer is one of `wrong`."""
    return any((value == 4.0).all() for value in answered.reply.tensors.values())


@pytest.mark.parametrize("error", [OverflowError("x"), RecursionError(), struct.error()], ids=repr)
def test_a_check_that_only_an_answer_breaks_is_failed_and_flagged(
    right: Right, monkeypatch, error: Exception
) -> None:
    breaking(monkeypatch, is_fours, error)

    (attention,) = right.grade(wrong, ATTENTION).results

    assert attention.outcome is Outcome.FAILED
    assert type(error).__name__ in attention.flags[0]
    assert is_clear(attention)


@pytest.mark.parametrize("change", [wrong, unchanged])
def test_a_check_that_breaks_on_the_right_answer_costs_no_points(
    right: Right, monkeypatch, change
) -> None:
    breaking(monkeypatch, lambda answered: True, OverflowError("our own"))

    (attention,) = right.grade(change, ATTENTION).results

    assert (attention.outcome, attention.note) == (Outcome.COULD_NOT_GRADE, "our own")


# --- what it costs ------------------------------------------------------------------------------


def largest(request: Request, answer: Answer) -> Answer:
    """Return as much as fits into a reply, in the same tensors, each with a different shape."""
    if request.call["kind"] in ("fine-tune", "predict"):
        return answer
    names = list(json.loads(answer.listed or "{}"))
    room = Limits().reply_bytes - 8 * 1024
    sizes = [min(room // len(names), MAX_VALUES) - next(SHAPES) % 500 for _ in names]
    values = {n: np.ones(size, bool) for n, size in zip(names, sizes, strict=True)}
    values[names[0]] = np.ones((room - sum(sizes[1:])) // 8 - 1, np.float64)
    number = json.loads(answer.message)["number"]
    return Answer.of(number, values, text="e\u0301\u0301\u0301\u0301\u0301" * 400)


def test_the_largest_answers_cost_little(right: Right) -> None:
    right.grade()
    projected = projections.cache_info().currsize
    tracemalloc.start()
    try:
        grade = right.grade(largest)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    start = time.process_time()
    right.grade(largest)
    seconds = time.process_time() - start

    assert {r.outcome for r in grade.results if r.id != "sentiment"} == {Outcome.FAILED}
    assert projections.cache_info().currsize == projected  # only recorded forms are kept
    assert seconds < 2
    assert peak < 200e6
