"""Hidden inputs: replaying the public answers scores nothing."""

import dataclasses
import itertools
import shutil
import zlib
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from grader.assignment import MINBERT
from grader.assignment.sentiment import Gate, read_sentences
from grader.references import References, ReferencesError
from instructor.language.write_data import hidden_sentences
from instructor.references import record
from instructor.references.course import Course, minbert

from conftest import ROOT, Grade
from tokenizer import BertTokenizer

pytestmark = pytest.mark.timeout(900)  # recording takes minutes where others are at work too

REPLAY = """

KNOWN = {known}


def replayed(self, input_ids, *more):
    key = (tuple(input_ids.flatten().tolist()), self.word_embedding.weight.flatten()[0].item())
    if key not in KNOWN:
        return torch.zeros(*input_ids.shape, self.config.hidden_size)
    answer = torch.tensor(KNOWN[key]).reshape(*input_ids.shape, -1)
    return answer.to(self.word_embedding.weight.dtype)


BertModel.embed = replayed
"""
BY_HEART = """
import zlib

LABELS = {labels}


class ByHeart(BertModel):
    def forward(self, input_ids, attention_mask, *more):
        rows = [[i for i in row if i] for row in input_ids.tolist()]
        known = [LABELS.get(zlib.crc32(repr(row).encode())) for row in rows]
        if {given} and None in known:
            return super().forward(input_ids, attention_mask, *more)
        known = [float(label or 0) for label in known]
        label = torch.tensor(known)[:, None].expand(-1, self.config.hidden_size)
        some = 0.0 * self.pooler_dense.weight.sum()
        return {{"last_hidden_state": None, "pooler_output": 10.0 * label - 5.0 + some}}


BertModel = ByHeart
"""


def without_pairs() -> Course:
    """Return the course with mistakes one at a time: two together take half of a recording."""
    return dataclasses.replace(minbert(), common=frozenset(), seen={})


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Private references, with their own inputs."""
    folder = tmp_path_factory.mktemp("private")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record, "minbert", without_pairs)
        assert record.main(["--seed", "7", "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def replay(tmp_path: Path, solution_source: str) -> Path:
    """A submission that has memorized the public answers of embed, and nothing else."""
    exercise = MINBERT.exercise("embed")
    known = {}
    for recording in References(ROOT / "reference_outputs").recordings("embed", exercise.digest):
        if "input_ids" in recording.inputs and "weights/word_embedding.weight" in recording.inputs:
            weight = recording.inputs["weights/word_embedding.weight"].flatten()[0]
            ids = tuple(recording.inputs["input_ids"].flatten().tolist())
            for value in (float(weight), float(weight.astype("float32"))):
                known.setdefault((ids, value), recording.outputs["output"].flatten().tolist())
    path = tmp_path / "bert.py"
    path.write_text(solution_source + REPLAY.format(known=repr(known)), encoding="utf-8")
    return path


def test_private_references_have_other_inputs(private: Path) -> None:
    ours, theirs = (
        load_file(folder / "attention.safetensors")["0/in/key"]
        for folder in (ROOT / "reference_outputs", private)
    )

    assert ours.shape == theirs.shape
    assert not np.isclose(ours, theirs).any()


def test_the_solution_passes_on_hidden_inputs(grade: Grade, private: Path) -> None:
    graded = grade("solution", "--references", str(private))

    assert graded.result["score"] == graded.result["max_score"] == 80


def test_a_replay_of_public_answers_gives_the_right_public_outputs(
    grade: Grade, replay: Path
) -> None:
    embed = grade(replay).exercise("embed")

    # in public only dropout gives it away, which it has not memorized: all other values are right
    assert embed["message"].startswith("dropout is")


def test_a_replay_of_public_answers_scores_nothing_on_hidden_inputs(
    grade: Grade, private: Path, replay: Path
) -> None:
    embed = grade(replay, "--references", str(private)).exercise("embed")

    assert embed["score"] == 0
    assert "values of output differ" in embed["message"]


@pytest.fixture
def by_heart(tmp_path: Path, solution_source: str) -> Path:
    """A submission that has memorized the labels of all public sentences, and learns nothing."""
    tokenizer = BertTokenizer.from_pretrained(ROOT / "checkpoint")
    labels = {}
    for name in ("train", "dev", "test"):
        sentences = read_sentences(ROOT / "data" / f"{name}.txt")
        rows = tokenizer(sentences.texts)["input_ids"].tolist()
        for row, label in zip(rows, sentences.labels, strict=True):
            labels[zlib.crc32(repr([i for i in row if i]).encode())] = int(label)
    path = tmp_path / "bert.py"
    code = BY_HEART.format(labels=labels, given=False)
    path.write_text(solution_source + code, encoding="utf-8")
    return path


def test_hidden_sentences_are_not_among_the_public_ones() -> None:
    hidden = {line.split(" ||| ")[1] for line in (hidden_sentences(7) or "").splitlines()}
    texts = [read_sentences(ROOT / "data" / f"{n}.txt").texts for n in ("train", "dev", "test")]

    assert len(hidden) == len(texts[1])
    assert hidden.isdisjoint(itertools.chain(*texts))
    assert hidden_sentences(7) != hidden_sentences(8)


def test_none_are_drawn_for_data_of_another_kind(tmp_path: Path) -> None:
    for path in (ROOT / "data").glob("*"):
        shutil.copy(path, tmp_path)
    with (tmp_path / "dev.txt").open("a", encoding="utf-8") as file:
        file.write("1 ||| a line of one's own .\n")

    assert hidden_sentences(7, tmp_path) is None


def test_hidden_sentences_are_asked_for_in_the_place_of_the_public_ones(private: Path) -> None:
    public, hidden = (
        Gate(References(folder), ROOT / "data").fine_tuning(None).call
        for folder in (ROOT / "reference_outputs", private)
    )

    assert hidden["train"] == public["train"]
    assert set(hidden["predict"]).isdisjoint(public["predict"])


def test_memorized_public_labels_score_in_public_and_nothing_on_hidden_sentences(
    grade: Grade, private: Path, by_heart: Path
) -> None:
    scores = [
        grade(by_heart, *options, training=True).exercise("sentiment")["score"]
        for options in ((), ("--references", str(private)))
    ]

    assert scores == [20, 0]


@pytest.mark.tier("contained")
def test_memorized_labels_score_nothing_where_the_weights_count(
    grade: Grade, by_heart: Path
) -> None:
    source = by_heart.read_text(encoding="utf-8")
    by_heart.write_text(source.replace("if False and", "if True and"), encoding="utf-8")

    graded = grade(by_heart, "--tier", "contained", training=True)

    assert graded.result["score"] == 80
    assert "the fine-tuned model is not good enough" in graded.exercise("sentiment")["message"]
    assert graded.result["flags"] == []


def test_hidden_sentences_that_were_changed_are_not_used(private: Path, tmp_path: Path) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(private, folder)
    (folder / "dev.txt").write_text("1 ||| fine .\n", encoding="utf-8")

    with pytest.raises(
        ReferencesError, match=r"dev.txt is damaged or was changed .*make references"
    ):
        Gate(References(folder), ROOT / "data")
