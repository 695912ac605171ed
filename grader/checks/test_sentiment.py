"""The gate: dev accuracy of a fine-tune from the frozen checkpoint."""

from collections.abc import Callable

import pytest

from grader.gate import Gate
from grader.outcomes import CheckFailed, Finding
from grader.sandbox import Reply


@pytest.mark.gate
def test_dev_accuracy_reaches_the_threshold(
    gate: Gate, fine_tuned: Callable[[], Reply], say: Callable[[str], None]
) -> None:
    accuracy = gate.accuracy(fine_tuned())
    say(f"dev accuracy {accuracy:.3f}")

    if not accuracy >= gate.threshold:
        details = (f"dev accuracy {accuracy:.3f}, a right model reaches {gate.threshold:.3f}",)
        raise CheckFailed(Finding("the fine-tuned model is not good enough", details))
