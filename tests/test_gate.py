"""The sentiment gate: what blocks it, who predicts, and how long it may take."""

import functools
import re

import numpy as np
import pytest

from grader.assignment import ASSIGNMENT
from grader.sentiment import DEADLINE, ENTRY, GateTraining, Sentences, Sentiment
from tensormark.files import sources_in
from tensormark.grading import Grading
from tensormark.intake.submission import Submission
from tensormark.program import program_of, solution_of
from tensormark.references import References
from tensormark.result import CheckFailed
from tensormark.sandbox.interface import Reply
from tensormark.sandbox.sandbox import Sandbox
from tensormark.sandbox.tiers import CONTAINED
from tensormark.settings import Settings
from tensormark.task import TaskRun
from tests.helpers import ROOT
from tests.helpers.known import HONEST

REFERENCES = References(ROOT / "reference_outputs")
SENTENCES = 320  # a fine-tune on so few takes a second or two
TASK = [ASSIGNMENT.exercise("sentiment")]
RIGHT = [variant for variant in HONEST if variant.module == "bert"][:1]


def task_run(ask, ask_solution=None):
    """Return the run that the task is graded with."""
    flag = [].append
    return TaskRun(REFERENCES, ROOT / "data", ASSIGNMENT.checkpoint, ask, ask_solution, flag)


def weights(values):
    return Reply("ok", tensors={f"out/weights/{name}": value for name, value in values.items()})


def answering(reply, requests):
    """Return a submission, or a solution, that gives one answer."""
    return lambda request: requests.append(request) or reply


def test_the_submission_is_not_shown_the_sentences_that_the_solution_predicts():
    requests = []
    made = {"bert.some.weight": np.ones((2, 3), np.float32)}
    run = task_run(answering(weights(made), requests), answering(Reply("ok"), []))

    with pytest.raises(CheckFailed):
        Sentiment().grade(run)

    lists = [value for value in requests[0].call.values() if isinstance(value, list)]
    assert lists == [GateTraining(REFERENCES, ROOT / "data").train.texts]
    assert requests[0].tensors.keys() == {"labels"}


# --- how long it may take -----------------------------------------------------------------------


@pytest.mark.parametrize(("measured", "deadline"), [(2.0, 14.0), (None, DEADLINE)])
def test_a_trainings_deadline_is_a_multiple_of_its_measured_time(measured, deadline):
    recorded = []

    class RecordingSandbox:
        apart = None

        def run(self, requests, progress):
            recorded.extend(requests)
            yield Reply("lost", "was not run")

    grading = Grading(Settings.of(ROOT, training_times=7.0), ASSIGNMENT)
    grading.references.manifest[ENTRY].pop("seconds", None)
    grading.references.manifest[ENTRY] |= {} if measured is None else {"seconds": measured}

    grading.session(Submission("bert.py", {}, {}), TASK).run(RecordingSandbox())

    assert [(request.deadline, request.task) for request in recorded] == [(deadline, True)]


def test_the_recorded_threshold_comes_with_the_time_of_its_runs():
    entry = REFERENCES.manifest[ENTRY]

    assert 0.5 < entry["threshold"] < 1
    assert 1 < entry["seconds"] < DEADLINE / 10


# --- with real processes ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small():
    reduced = GateTraining(REFERENCES, ROOT / "data")
    reduced.train = Sentences(reduced.train.labels[:SENTENCES], reduced.train.texts[:SENTENCES])
    reduced.dev = Sentences(reduced.dev.labels[:SENTENCES], reduced.dev.texts[:SENTENCES])
    return reduced


@pytest.fixture(scope="module")
def sources():
    return sources_in(ROOT / "solution")


@pytest.fixture(scope="module")
def sandbox(sources):
    program = program_of(ASSIGNMENT, TASK, sources, Settings.of(ROOT))
    with Sandbox(CONTAINED, program) as opened:
        yield opened


@pytest.fixture(scope="module")
def ask(sandbox):
    return lambda request: next(iter(sandbox.run([request])))


@pytest.fixture(scope="module")
def ask_solution(sandbox, sources):
    program = program_of(ASSIGNMENT, [], sources, Settings.of(ROOT))
    return functools.partial(sandbox.apart, solution_of(program, ASSIGNMENT))


@pytest.mark.slow
@pytest.mark.tier(CONTAINED)
@pytest.mark.parametrize("variant", [None, *RIGHT], ids=str)
def test_honest_code_predicts_what_the_solution_does_with_its_weights(
    small, sandbox, ask, ask_solution, sources, variant
):
    text = variant.apply(sources["bert"]) if variant else sources["bert"]
    sandbox.reload({**sources, "bert": text})

    by_submission, _ = small.predictions(task_run(ask))
    by_solution, _ = small.predictions(task_run(ask, ask_solution))

    assert np.array_equal(by_submission, by_solution)
    assert (by_solution == small.labels).mean() > 0.6


# --- through the whole grader -------------------------------------------------------------------

WRONG = """
right = BertModel.embed
BertSelfAttention.attention = lambda self, key, query, value, attention_mask: 0 * value.flatten(2)
BertLayer.add_norm = BertLayer.forward = BertModel.encode = lambda self, x, *more: 0 * x
BertModel.embed = lambda self, ids, *more: 0 * self.word_embedding(ids)
"""
WRONG_NORM = """
right = BertLayer.add_norm
BertLayer.add_norm = lambda *arguments: 2 * right(*arguments)
"""
SETS_A_SEED = """
import random
right = BertModel.embed
BertModel.embed = lambda *arguments: random.seed(0) or right(*arguments)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "outcome", "says"),
    [
        (WRONG, "blocked", "by attention, add_norm, layer, embed, encode"),
        (WRONG + "import no_such_module\n", "blocked", "by bert.py, which cannot be imported"),
        (WRONG + "BertModel.embed = right\n", "blocked", "by attention, add_norm, layer, encode"),
        (WRONG_NORM, "blocked", "by add_norm"),
        (SETS_A_SEED, "passed", "dev accuracy"),
    ],
)
def test_a_fine_tune_runs_once_the_values_of_all_functions_are_right(
    grade, tmp_path, solution_source, code, outcome, says
):
    path = tmp_path / "bert.py"
    path.write_text(solution_source + code, "utf-8")

    graded = grade(path, training=True)

    sentiment = graded.exercise("sentiment")
    assert (sentiment["outcome"], re.sub(r" 0\.\d+", "", sentiment["message"])) == (outcome, says)
