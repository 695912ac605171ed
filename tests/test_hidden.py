"""Hidden inputs: replaying the public answers scores nothing."""

import dataclasses
import itertools
import shutil
import zlib

import numpy as np
import pytest

from grader.assignment import ASSIGNMENT
from grader.sentiment import HIDDEN, read_sentences
from instructor.hidden import hidden_sentences
from tensormark.authoring.prove import alone, proved, recorded_alone
from tensormark.authoring.record import record
from testkit.tiers import NIGHTLY
from tests.helpers import ROOT, answering
from tests.helpers.answering import PROBED
from tests.helpers.known import COURSE
from tokenizer import BertTokenizer

# private references are recorded first: with all variants, six minutes on two idle cores
pytestmark = pytest.mark.timeout(3600)
BY_HEART = """
import zlib

LABELS = {labels}


class ByHeart(BertModel):
    def forward(self, input_ids, attention_mask, *more):
        rows = [[i for i in row if i] for row in input_ids.tolist()]
        known = [LABELS.get(zlib.crc32(repr(row).encode())) for row in rows]
        if None in known:
            return super().forward(input_ids, attention_mask, *more)
        label = torch.tensor(known).float()[:, None].expand(-1, self.config.hidden_size)
        some = 0.0 * self.pooler_dense.weight.sum()
        return {{"last_hidden_state": None, "pooler_output": 10.0 * label - 5.0 + some}}


BertModel = ByHeart
"""


@pytest.fixture(scope="module")
def private(tmp_path_factory):
    """Private references, with their own inputs; in `make nightly` with all variants."""
    folder = tmp_path_factory.mktemp("private")
    # two mistakes together take half of a recording
    staff = dataclasses.replace(COURSE.staff, common=frozenset(), seen={})
    variants, honest = (v if NIGHTLY else v[::64] for v in (COURSE.variants, COURSE.honest))
    course = dataclasses.replace(COURSE, staff=staff, variants=variants, honest=honest)
    assert record(course, folder, 7, False, ASSIGNMENT.checkpoint)
    return folder


def same_inputs(exercise, call, seeds):
    """Return whether a call has the same inputs with both seeds; the assignment's are public."""
    first, second = (exercise.inputs(call, seed, private=seed != ASSIGNMENT.seed) for seed in seeds)
    same_names = first.keys() == second.keys()
    return same_names and all(np.array_equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("exercise", PROBED, ids=lambda exercise: exercise.id)
def test_private_seeds_have_inputs_of_their_own(exercise):
    value_calls = [call for probe, call in exercise.asked if probe.part == "values"]

    for seed in range(20):
        public = [c for c in exercise.calls if same_inputs(exercise, c, (ASSIGNMENT.seed, seed))]
        assert not public
        assert not same_inputs(exercise, value_calls[0], (seed, seed + 1))


@pytest.mark.parametrize("exercise", PROBED, ids=lambda exercise: exercise.id)
def test_a_table_of_all_public_answers_passes_in_public_and_scores_nothing_in_private(
    private, exercise
):
    (in_public,) = answering.grade(exercises=[exercise]).results
    (in_private,) = answering.grade(exercises=[exercise], references=private).results

    assert (in_public.score, in_private.score) == (exercise.max_score, 0)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("exercise", [e for e in PROBED if e.draw_private], ids=lambda e: e.id)
def test_mistakes_are_named_on_private_inputs_too(exercise, tmp_path):
    course = alone(COURSE, exercise.id)
    sample = course.variants[:: 1 if NIGHTLY else 6]
    names = {variant.name for variant in sample}  # some of the sample are forms
    variants = tuple(
        variant for variant in course.variants if variant in sample or variant.id in names
    )
    course = dataclasses.replace(course, variants=variants, honest=())

    settings = recorded_alone(course, tmp_path / "references", seed=len(exercise.id))

    assert [c.name for c, results in proved(course, settings) if c.fault(results)] == []


def test_hidden_sentences_are_not_among_the_public_ones():
    lines, others = (COURSE.staff.hidden(ASSIGNMENT, seed)[HIDDEN] for seed in (7, 8))
    hidden = {line.split(" ||| ")[1] for line in lines.splitlines()}
    texts = [read_sentences(ROOT / "data" / f"{n}.txt").texts for n in ("train", "dev", "test")]

    assert len(hidden) == len(texts[1])
    assert hidden.isdisjoint(itertools.chain(*texts))
    assert lines != others


def test_no_hidden_sentences_are_drawn_for_data_of_another_kind(tmp_path):
    shutil.copytree(ROOT / "data", tmp_path / "data")
    with (tmp_path / "data" / "dev.txt").open("a", encoding="utf-8") as file:
        file.write("1 ||| a line of one's own .\n")

    assert hidden_sentences(7, tmp_path, ()) is None


@pytest.fixture
def by_heart(tmp_path, solution_source):
    """A submission that has memorized the labels of all public sentences, and learns nothing."""
    tokenizer = BertTokenizer.from_pretrained(ROOT / "checkpoint")
    labels = {}
    for name in ("train", "dev", "test"):
        sentences = read_sentences(ROOT / "data" / f"{name}.txt")
        rows = tokenizer(sentences.texts)["input_ids"].tolist()
        for row, label in zip(rows, sentences.labels, strict=True):
            labels[zlib.crc32(repr([i for i in row if i]).encode())] = int(label)
    path = tmp_path / "bert.py"
    code = BY_HEART.format(labels=labels)
    path.write_text(solution_source + code, "utf-8")
    return path


def test_memorized_public_labels_score_in_public_and_nothing_on_hidden_sentences(
    grade, private, by_heart
):
    scores = [
        grade(by_heart, *options, training=True).exercise("sentiment")["score"]
        for options in ((), ("--references", str(private)))
    ]

    assert scores == [20, 0]
