"""The sentiment gate: whose predictions are scored, and what is refused."""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from graded import Grade
from grader.assignment import ASSIGNMENT
from grader.sentiment import Gate, Sentences, Sentiment
from tensormark.files import sources_in
from tensormark.grading import program_of, solution_of
from tensormark.references import References, under
from tensormark.result import CheckFailed
from tensormark.sandbox.interface import Reply, Request, Sandbox
from tensormark.sandbox.tiers import open_sandbox
from tensormark.settings import Settings
from tensormark.task import TaskRun
from tensormark.toolkit.training import MAX_WEIGHTS
from tests.helpers import ROOT
from tests.helpers.known import HONEST

SENTENCES = 320  # a fine-tune on so few takes a second or two
WEIGHTS = {"bert.some.weight": np.ones((2, 3), np.float32), "classifier.bias": np.zeros(2, "f4")}


@pytest.fixture(scope="module")
def gate() -> Gate:
    return Gate(References(ROOT / "reference_outputs"), ROOT / "data")


def task_run(
    ask: Callable[[Request], Reply],
    ask_solution: Callable[[Request], Reply] | None = None,
    wrong: tuple[str, ...] = (),
    checkpoint: Path = ASSIGNMENT.checkpoint,
) -> tuple[TaskRun, list[str]]:
    """Return the run that the task is graded with, and the list of its flags."""
    references = References(ROOT / "reference_outputs")
    flags = list[str]()
    arguments = (ask, ask_solution, "it is a test", wrong, flags.append)
    return TaskRun(references, ROOT / "data", checkpoint, *arguments), flags


def answering(reply: Reply, requests: list[Request]) -> Callable[[Request], Reply]:
    """Return a submission, or a solution, that gives one answer."""
    return lambda request: requests.append(request) or reply  # type: ignore[func-returns-value]


def ok(tensors: dict[str, np.ndarray]) -> Reply:
    return Reply("ok", tensors=tensors)


def weights(values: dict[str, np.ndarray] = WEIGHTS) -> Reply:
    return ok({f"out/weights/{name}": value for name, value in values.items()})


# --- scoring ----------------------------------------------------------------------------------


def test_accuracy_is_the_share_of_right_predictions(gate: Gate) -> None:
    predictions = gate.dev.labels.copy()
    predictions[: len(predictions) // 4] += 1

    assert gate.accuracy(ok({"out/predictions": predictions})) == pytest.approx(0.75, abs=0.01)


# --- whose predictions count --------------------------------------------------------------------


def test_the_submission_is_not_shown_the_sentences_that_the_solution_predicts(gate: Gate) -> None:
    requests = list[Request]()
    run, _ = task_run(answering(weights(), requests), answering(ok({}), []))

    with pytest.raises(CheckFailed):
        Sentiment().grade(run)

    lists = [value for value in requests[0].call.values() if isinstance(value, list)]
    assert lists == [gate.train.texts]
    assert requests[0].tensors.keys() == {"labels"}


def test_a_submission_whose_own_predictions_count_is_shown_the_sentences(gate: Gate) -> None:
    requests = list[Request]()
    submission = answering(ok({"out/predictions": gate.dev.labels}), requests)

    run, flags = task_run(submission, answering(weights(), []), ("embed", "encode"))

    why = "the values of embed, encode are not right"
    assert Sentiment().grade(run) == "dev accuracy 1.000"
    assert flags == [f"the submission's own predictions count, because {why}"]
    assert requests[0].call["predict"] == gate.dev.texts


def test_weights_that_are_too_large_to_be_returned_are_not_requested(
    gate: Gate, tmp_path: Path
) -> None:
    with (tmp_path / "model.safetensors").open("wb") as file:
        file.truncate(MAX_WEIGHTS)  # as large as BERT's, and takes no room on the disk
    submission = answering(ok({"out/predictions": gate.dev.labels}), [])

    run, flags = task_run(submission, answering(weights(), []), checkpoint=tmp_path)

    assert Sentiment().grade(run) == "dev accuracy 1.000"
    assert "this checkpoint's weights are too large to be returned" in flags[0]


# --- with real processes ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small() -> Gate:
    reduced = Gate(References(ROOT / "reference_outputs"), ROOT / "data")
    reduced.train = Sentences(reduced.train.labels[:SENTENCES], reduced.train.texts[:SENTENCES])
    reduced.dev = Sentences(reduced.dev.labels[:SENTENCES], reduced.dev.texts[:SENTENCES])
    return reduced


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    return sources_in(ROOT / "solution")


@pytest.fixture(scope="module")
def sandbox(sources: dict[str, str]) -> Iterator[Sandbox]:
    task = [ASSIGNMENT.exercise("sentiment")]
    program = program_of(ASSIGNMENT, task, sources, Settings.of(ROOT))
    with open_sandbox("contained", program) as opened:
        yield opened


def ask_in(sandbox: Sandbox) -> Callable[[Request], Reply]:
    return lambda request: next(iter(sandbox.run([request])))


@pytest.fixture(scope="module")
def ask_solution(sandbox: Sandbox, sources: dict[str, str]) -> Callable[[Request], Reply]:
    program = program_of(ASSIGNMENT, [], sources, Settings.of(ROOT))
    return functools.partial(sandbox.apart, solution_of(program, ASSIGNMENT))


RIGHT = {variant.id: variant for variant in HONEST if variant.module == "bert"}


@pytest.mark.slow
@pytest.mark.tier("contained")
@pytest.mark.parametrize("name", ["the solution", *list(RIGHT)[:3]])
def test_the_solution_predicts_what_honest_code_predicts_itself(
    small: Gate, sandbox: Sandbox, ask_solution, sources: dict[str, str], name: str
) -> None:
    text = RIGHT[name].apply(sources["bert"]) if name in RIGHT else sources["bert"]
    sandbox.reload({**sources, "bert": text})

    alone = Sentiment().replies(small, task_run(ask_in(sandbox))[0])[0]
    judged = Sentiment().replies(small, task_run(ask_in(sandbox), ask_solution)[0])[0]

    by_submission, by_solution = (reply.tensors["out/predictions"] for reply in (alone, judged))
    assert np.array_equal(by_submission, by_solution)
    assert small.accuracy(judged) > 0.6


FORGERIES: dict[str, Callable[[dict[str, np.ndarray]], object]] = {
    "one more": lambda made: made.update({"classifier.more": np.zeros(2, np.float32)}),
    "one less": lambda made: made.pop("classifier.bias"),
    "another name": lambda made: made.update({"bert": made.pop("bert.pooler_dense.bias")}),
    "another shape": lambda made: made.update({"classifier.bias": np.zeros(3, np.float32)}),
    "a number": lambda made: made.update({"classifier.bias": np.zeros((), np.float32)}),
    "turned": lambda made: made.update({"classifier.weight": made["classifier.weight"].T}),
}


@pytest.fixture(scope="module")
def learned_weights(
    small: Gate, sandbox: Sandbox, sources: dict[str, str]
) -> dict[str, np.ndarray]:
    sandbox.reload(sources)
    tensors = ask_in(sandbox)(small.training(1 << 22)).tensors
    return under(tensors, "out/weights/")


@pytest.mark.slow
@pytest.mark.tier("contained")
@pytest.mark.parametrize("forgery", FORGERIES)
def test_weights_that_do_not_fit_the_solutions_model_are_refused(
    small: Gate, ask_solution, learned_weights: dict[str, np.ndarray], forgery: str
) -> None:
    forged = dict(learned_weights)
    FORGERIES[forgery](forged)

    run, _ = task_run(answering(weights(forged), []), ask_solution)

    with pytest.raises(CheckFailed, match="weights with the wrong names or shapes"):
        Sentiment().replies(small, run)


# --- through the whole grader -------------------------------------------------------------------

WRONG = """
BertSelfAttention.attention = lambda self, key, query, value, attention_mask: 0 * value.flatten(2)
BertLayer.add_norm = BertLayer.forward = BertModel.encode = lambda self, x, *more: 0 * x
BertModel.embed = lambda self, ids, *more: 0 * self.word_embedding(ids)
"""
RIGHT_EMBED = """
BertModel.embed = right
"""


@pytest.mark.slow
def test_the_fine_tune_is_blocked_where_no_function_is_right(
    grade: Grade, tmp_path: Path, solution_source: str
) -> None:
    path = tmp_path / "bert.py"
    path.write_text(solution_source + WRONG, encoding="utf-8")

    graded = grade(path, training=True)

    assert graded.outcomes()["sentiment"] == "blocked"
    assert graded.exercise("sentiment")["score"] == 0
    assert "by attention, add_norm, layer, embed, encode" in graded.output


@pytest.mark.slow
def test_the_result_is_flagged_where_a_function_is_wrong(
    grade: Grade, tmp_path: Path, solution_source: str
) -> None:
    path = tmp_path / "bert.py"
    source = solution_source + "\nright = BertModel.embed\n" + WRONG + RIGHT_EMBED
    path.write_text(source, encoding="utf-8")

    graded = grade(path, training=True)

    assert graded.outcomes()["sentiment"] == "failed"
    assert graded.result["flags"] == [
        "sentiment: the submission's own predictions count, "
        "because the values of attention, add_norm, layer, encode are not right"
    ]
