"""Real weights (`make test-real`): minBERT against transformers on a 6-layer BERT.

Not collected by `make test`: the weights come from another package, and are never committed. With
SST=folder the sentences are SST's, otherwise those of data/.
"""

import random
import unicodedata
from pathlib import Path
from typing import Any

import pytest

import classifier
from instructor import huggingface
from instructor.hard_lines import HARD_LINES
from places import sst, weights
from support.sentences import read_examples
from tensormark.authoring.record import main as record_main
from testkit.graded import Grade
from tests.helpers import ROOT
from tokenizer import BertTokenizer

SENTENCES = {"train": 960, "dev": 320}  # to fine-tune on
pytestmark = pytest.mark.timeout(1800)  # fine-tuning takes minutes on a busy machine


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real weights, imported, which also compares hidden states, pooler and hard lines."""
    out = tmp_path_factory.mktemp("real") / "minilm"
    assert huggingface.main(["import-checkpoint", str(weights()), str(out)]) == 0
    return out


@pytest.fixture(scope="module")
def tuned(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with training files, and the results of two epochs."""
    folder = tmp_path_factory.mktemp("tuned")
    run = ["--checkpoint", str(checkpoint), "--epochs", "2", "--lr", "3e-4", "--device", "cpu"]
    run += ["--predictions", str(folder), "--save", str(folder / "saved")]
    for split, count in SENTENCES.items():
        chosen = random.Random(0).sample(examples(split), count)
        lines = (f"{label} ||| {sentence}\n" for label, sentence in chosen)
        (folder / f"{split}.txt").write_text("".join(lines), encoding="utf-8")
        run += [f"--{split}", str(folder / f"{split}.txt")]
    assert classifier.main(run) == 0
    return folder


def examples(split: str) -> list[Any]:
    return read_examples(sst(split) or ROOT / "data" / f"{split}.txt")


def random_line(draw: random.Random) -> str:
    """Some code points from all over Unicode, with ASCII and spaces between."""
    points = (draw.choice((draw.randrange(0x110000), draw.randrange(0x3000))) for _ in range(20))
    letters = [chr(point) for point in points if unicodedata.category(chr(point)) != "Cs"]
    return "".join(draw.choice((letter, letter, "a", "Be", " ")) for letter in letters)


def test_sentences_and_random_lines_are_tokenized_as_in_transformers(checkpoint: Path) -> None:
    draw = random.Random(2026)
    lines = [example.sentence for split in SENTENCES for example in examples(split)]
    lines += [*HARD_LINES, *(random_line(draw) for _ in range(2000))]
    theirs = huggingface.transformers().AutoTokenizer.from_pretrained(weights())

    batch = BertTokenizer.from_pretrained(checkpoint)(lines)

    lengths = batch["attention_mask"].sum(dim=1).tolist()
    for line, row, length in zip(lines, batch["input_ids"].tolist(), lengths, strict=True):
        assert row[:length] == theirs(line)["input_ids"], line


def test_fine_tuning_learns_more_than_the_most_frequent_label(tuned: Path) -> None:
    labels = [label for label, _ in read_examples(tuned / "dev.txt")]
    lines = (tuned / "full-model-dev-out.txt").read_text("utf-8").splitlines()
    pairs = zip(lines, labels, strict=True)
    right = sum(int(line.rpartition("||| ")[2]) == label for line, label in pairs) / len(labels)
    most_frequent = max(labels.count(label) for label in set(labels)) / len(labels)
    print(f"\ndev accuracy {right:.3f}, most frequent label {most_frequent:.3f}")
    assert right > most_frequent + 0.05


def test_what_was_fine_tuned_opens_in_transformers(tuned: Path) -> None:
    arguments = ["export-checkpoint", str(tuned / "saved"), str(tuned / "out")]

    assert huggingface.main(arguments) == 0


def test_references_are_recorded_and_graded_with_real_weights(
    checkpoint: Path, tmp_path: Path, grade: Grade
) -> None:
    options = ["--checkpoint", str(checkpoint)]
    assert record_main(ROOT, "references", [*options, "--out", str(tmp_path / "own")]) == 0

    graded = grade("solution", *options, "--references", str(tmp_path / "own"), training=True)

    assert (graded.status, graded.result["score"], graded.result["max_score"]) == (0, 80, 80)
    broken = tmp_path / "bert.py"
    source = (ROOT / "solution" / "bert.py").read_text(encoding="utf-8")
    broken.write_text(source.replace("words + positions + token_types", "words + positions"))
    graded = grade(broken, *options, "--references", str(tmp_path / "own"))
    assert graded.outcomes()["embed"] == "failed"
