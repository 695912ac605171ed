"""What each exercise is checked for: a check asks `trial` to judge a probe.

Which probes a check is run for, and for which share of the points, says the marker `probes`.
"""

import pytest

from grader.cases import Probe
from grader.outcomes import CheckFailed, Finding
from grader.trial import Trial


@pytest.mark.once
def test_the_hole_is_filled(trial: Trial) -> None:
    trial.require_written()


@pytest.mark.once
def test_it_is_written_without_the_forbidden_parts_of_libraries(trial: Trial) -> None:
    if trial.offences:
        listed = ", ".join(str(offence) for offence in trial.offences[:3])
        what = f"uses {listed}, which is what this assignment asks you to write"
        raise CheckFailed(Finding(what, ('read: handout.md, "Other libraries"',), "forbidden"))


@pytest.mark.probes("reference")
def test_output_equals_the_reference(trial: Trial, probe: Probe) -> None:
    trial.judge(probe, trial.wrong_output)


@pytest.mark.probes("random")
def test_what_is_drawn_is_drawn_as_it_should(trial: Trial, probe: Probe) -> None:
    trial.judge(probe, trial.wrong_dropout)


@pytest.mark.probes("gradients", part="properties")
def test_gradients_equal_the_reference(trial: Trial, probe: Probe) -> None:
    trial.judge(probe, trial.wrong_gradient)


@pytest.mark.probes("every", part="properties")
def test_inputs_are_not_modified(trial: Trial, probe: Probe) -> None:
    trial.judge(probe, trial.changed_input)


@pytest.mark.probes("every", part="properties")
def test_global_state_is_left_alone(trial: Trial, probe: Probe) -> None:
    trial.judge(probe, trial.changed_state)
