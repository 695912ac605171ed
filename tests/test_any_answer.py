"""Whatever a submission answers, it fails for a reason that students can read, or passes.

The answers take the real path from their bytes to every report; only the processes are left out.
FUZZ=long tries 20,000 answers.
"""

import os
import random
import time

import numpy as np
import pytest

from grader.assignment import ASSIGNMENT
from tensormark.judging.checks import CHECKS, wrong_output
from tensormark.result import Outcome
from tensormark.sandbox import answers
from testkit.formats import check_all
from tests.helpers.answering import PROBED, grade, unchanged

LONG = os.environ.get("FUZZ") == "long"
ANSWERS = 20_000 if LONG else 300
ATTENTION = [ASSIGNMENT.exercise("attention")]
KEYS = (*answers.KEYS, "unknown")
TEXTS = ("", "error", "not written", "lost", "attention", "BertSelfAttention.attention", "\ud800")
NUMBERS = (0, -1, 2.5, True, None, float("nan"), float("-inf"), 2**64, 10**4000)
NESTED = ([], ["\ud800"], [[]], {}, {"a": {"b": 1}}, {"ids": 1}, list(range(900)))
LONG_TEXTS = ("\u202e\u2066\r\n\x1b[2J", "é\U0001f600" * 2000)
VALUES = (*TEXTS, *LONG_TEXTS, *NUMBERS, *NESTED)
TYPES = ("f2", "f4", "f8", "i4", "i8", "?")
FILLS = (
    b"\x00\x00\xc0\x7f\x01\x00\xa0\xff",  # NaN, with and without a payload
    b"\x00\x00\x80\x7f\x00\x00\x80\xff",  # infinities
    b"\x01\x00\x00\x00\x00\x00\x00\x80",  # denormal, -0.0, the least int64
    b"\xff\xff\x7f\x7f\xff\xff\x7f\xff",  # the largest float32
    b"\x02\x80\x01\x00\xfe\x03\x00\x01",  # bools other than 0 and 1
)


def filled(rng, value):
    """Return a tensor with other bytes, of any type."""
    kind = np.dtype(rng.choice((*TYPES, value.dtype)))
    content = rng.choice(FILLS) * (value.size * kind.itemsize // 8 + 1)
    return np.frombuffer(content[: value.size * kind.itemsize], kind).reshape(value.shape)


TENSORS = (
    filled,
    lambda rng, value: value.astype(rng.choice(TYPES)),
    lambda rng, value: np.ascontiguousarray(rng.choice((value[None], value.ravel(), value.T))),
    lambda rng, value: np.zeros(rng.choice([(), (0,), (1,) * 9, (2**16,)]), value.dtype),
)


def damaged(rng, message, tensors):
    """Return an answer with up to three changes of its message or its tensors."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        name = rng.choice(list(tensors))
        kind = rng.random()
        if kind < 0.4:
            message = {**message, rng.choice((*KEYS, *TEXTS)): rng.choice(VALUES)}
        elif kind < 0.9:
            tensors = {**tensors, name: rng.choice(TENSORS)(rng, tensors[name])}
        else:
            tensors = {rng.choice(("out/output", "after/key", name)): tensors[name]}
    return message, tensors


def is_clear(result):
    """Return whether a failed exercise says why, in printable lines of limited length."""
    lines = []
    for finding in result.findings:
        lines += [finding.headline, *finding.details]
    return bool(lines) and all(line and line.isprintable() and len(line) < 1200 for line in lines)


@pytest.mark.timeout(36_000 if LONG else 600)
def test_any_answer_passes_or_fails_for_a_clear_reason():
    assert {result.outcome for result in grade().results} == {Outcome.PASSED}
    failed = 0
    for seed in range(ANSWERS):
        rng = random.Random(seed)
        every_call = rng.random() < 0.5
        start = time.process_time()

        found = grade(
            lambda *answer, rng=rng, every=every_call: (
                damaged(rng, *answer) if every or rng.random() < 0.3 else answer
            ),
            [rng.choice(PROBED)],
        )

        assert time.process_time() - start < 2, seed
        (result,) = found.results
        assert result.outcome is not Outcome.COULD_NOT_GRADE, (seed, result)
        assert result.outcome is not Outcome.FAILED or is_clear(result), (seed, result)
        assert not result.flags, (seed, result.flags)
        check_all(found.as_json())
        failed += result.outcome is Outcome.FAILED
    assert failed > ANSWERS // 3


def wrong(message, tensors):
    return message, {name: np.full_like(value, 4) for name, value in tensors.items()}


@pytest.mark.parametrize("always", [False, True])
@pytest.mark.parametrize("change", [wrong, unchanged])
def test_a_check_that_breaks_costs_points_only_if_the_right_answer_does_not_break_it(
    monkeypatch, change, always
):
    def broken(evidence, answered):
        if always or any((value == 4).all() for value in answered.reply.tensors.values()):
            raise OverflowError("our own")
        return wrong_output(evidence, answered)

    checks = [broken if check is wrong_output else check for check in CHECKS]
    monkeypatch.setattr("tensormark.judging.trial.CHECKS", checks)

    (attention,) = grade(change, ATTENTION).results

    if always:
        assert (attention.outcome, attention.note) == (Outcome.COULD_NOT_GRADE, "our own")
    elif change is wrong:
        assert attention.outcome is Outcome.FAILED
        assert "OverflowError" in attention.flags[0]
        assert is_clear(attention)
    else:
        assert attention.outcome is Outcome.PASSED
