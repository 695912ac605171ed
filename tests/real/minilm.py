"""Real weights (`make test-real`): minBERT against transformers on a 6-layer BERT.

Not collected by `make test`: the weights come from another package, and are never committed. With
SST=folder the sentences are SST's, otherwise those of data/.
"""

import json
import random
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import torch
from instructor.huggingface.export_checkpoint import main as export_main
from instructor.huggingface.hard_lines import HARD_LINES
from instructor.huggingface.import_checkpoint import main as import_main

from instructor.huggingface import second_opinion
from tensormark.authoring.record import main as record_main

import classifier
from bert import BertModel
from conftest import ROOT, Grade
from places import sst, weights
from sentences import read_examples
from tokenizer import BertTokenizer

TRAINED_ON = 960  # sentences
RANDOM_LINES = 2000
pytestmark = pytest.mark.timeout(1800)  # fine-tuning takes minutes on a busy machine


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real weights, imported, which also compares them with transformers."""
    out = tmp_path_factory.mktemp("real") / "minilm"
    assert import_main([str(weights()), str(out)]) == 0
    return out


@pytest.fixture(scope="module")
def tuned(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with training files, and the results of two epochs."""
    folder = tmp_path_factory.mktemp("tuned")
    for split in ("train", "dev"):
        chosen = examples(split)
        random.Random(0).shuffle(chosen)
        lines = [
            f"{label} ||| {sentence}\n"
            for label, sentence in chosen[: TRAINED_ON if split == "train" else 320]
        ]
        (folder / f"{split}.txt").write_text("".join(lines), encoding="utf-8")
    files = [part for s in ("train", "dev") for part in (f"--{s}", str(folder / f"{s}.txt"))]
    out = ["--predictions", str(folder), "--save", str(folder / "saved")]
    run = ["--checkpoint", str(checkpoint), "--epochs", "2", "--lr", "3e-4", "--device", "cpu"]
    assert classifier.main([*files, *out, *run]) == 0
    return folder


def examples(split: str) -> list[Any]:
    return read_examples(sst(split) or ROOT / "data" / f"{split}.txt")


def random_line(draw: random.Random) -> str:
    """Some code points from all over Unicode, with ASCII and spaces between."""
    points = (draw.choice((draw.randrange(0x110000), draw.randrange(0x3000))) for _ in range(20))
    letters = [chr(point) for point in points if unicodedata.category(chr(point)) != "Cs"]
    return "".join(draw.choice((letter, letter, "a", "Be", " ")) for letter in letters)


def their_tokenizer() -> Any:
    return second_opinion.transformers().AutoTokenizer.from_pretrained(weights())


def assert_alike(checkpoint: Path, lines: list[str]) -> None:
    ours, theirs = BertTokenizer.from_pretrained(checkpoint), their_tokenizer()
    batch = ours(lines)
    lengths = batch["attention_mask"].sum(dim=1).tolist()
    for line, row, length in zip(lines, batch["input_ids"].tolist(), lengths, strict=True):
        assert row[:length] == theirs(line)["input_ids"], line


@pytest.mark.parametrize("dtype", second_opinion.ALLOWED, ids=["float32", "float64"])
@torch.no_grad()
def test_hidden_states_and_pooler_are_those_of_transformers(checkpoint: Path, dtype) -> None:
    ours = BertModel.from_pretrained(checkpoint).to(dtype)
    theirs = second_opinion.transformers().BertModel.from_pretrained(weights()).to(dtype).eval()
    lines = [sentence for _, sentence in examples("dev")[:96]]
    batch = BertTokenizer.from_pretrained(checkpoint)(lines[:64], [*lines[64:], *[""] * 32])

    got = ours(batch["input_ids"], batch["attention_mask"], batch["token_type_ids"])
    expected = theirs(**batch)

    real = batch["attention_mask"].bool()
    hidden = (got["last_hidden_state"] - expected.last_hidden_state)[real].abs().max().item()
    pooled = (got["pooler_output"] - expected.pooler_output).abs().max().item()
    print(f"\n{dtype}: hidden states differ by at most {hidden:.1e}, pooler by {pooled:.1e}")
    assert max(hidden, pooled) <= second_opinion.ALLOWED[dtype]


def test_every_sentence_is_tokenized_as_in_transformers(checkpoint: Path) -> None:
    lines = [example.sentence for split in ("dev", "train") for example in examples(split)]
    assert len(lines) >= 2000

    assert_alike(checkpoint, lines)


def test_hard_lines_are_tokenized_as_in_transformers(checkpoint: Path) -> None:
    assert_alike(checkpoint, list(HARD_LINES))


def test_random_lines_are_tokenized_as_in_transformers(checkpoint: Path) -> None:
    draw = random.Random(2026)

    assert_alike(checkpoint, [random_line(draw) for _ in range(RANDOM_LINES)])


def test_fine_tuning_learns_more_than_the_most_frequent_label(tuned: Path) -> None:
    labels = [label for label, _ in read_examples(tuned / "dev.txt")]
    curve = json.loads((tuned / "full-model-curve.json").read_text("utf-8"))
    losses, measured, _ = curve.values()
    accuracies = [share for _, share in measured]

    most_frequent = max(labels.count(label) for label in set(labels)) / len(labels)
    print(f"\ndev accuracy {max(accuracies):.3f}, most frequent label {most_frequent:.3f}")
    assert max(accuracies) > most_frequent + 0.05
    assert sum(losses[-5:]) < sum(losses[:5])


def test_what_was_fine_tuned_opens_in_transformers(tuned: Path, capsys) -> None:
    assert export_main([str(tuned / "saved"), str(tuned / "out")]) == 0

    assert "logits differ by at most" in capsys.readouterr().out


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
