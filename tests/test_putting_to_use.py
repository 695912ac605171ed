"""The programs that train with extensions: their messages, and what the handout says of them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from instructor.language.lexicon import ASPECTS, FILMS, GENRES, RIVALS, TITLES, WHOLE

import classifier
import fine_tune_mine
import optimizer
import pretrain
import training
import write_review
from bert import BertModel
from conftest import ROOT
from graded import ran
from handout_pages import TEXT
from pretraining import BertForPreTraining
from small import CONFIG, raising, refusal
from tokenizer import BertTokenizer


@pytest.fixture(scope="module")
def students(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("student")
    shutil.copytree(ROOT / "starter", folder / "starter")
    for name in ("checkpoint", "data"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def run_program(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return ran(sys.executable, *command, cwd=folder / "starter", env=clean)


@pytest.mark.parametrize(
    ("program", "first"),
    [
        ("pretrain.py", "pretraining.py: Problem (wordpiece)"),
        ("write_review.py", "transformer.py: Problem (sinusoidal_positions)"),
        ("fine_tune_mine.py", "bert.py: Problem (embed)"),
    ],
)
def test_the_starter_says_what_to_write_first(students: Path, program: str, first: str) -> None:
    result = run_program(students, program)

    assert (result.returncode, result.stderr) == (1, f"{first} is not written yet\n")


def test_an_exception_in_a_students_code_is_one_line_with_its_place(students: Path) -> None:
    shutil.copytree(ROOT / "solution", students / "starter", dirs_exist_ok=True)
    source = students / "starter" / "pretraining.py"
    lines = source.read_text(encoding="utf-8").splitlines()
    number = next(i for i, line in enumerate(lines) if line.startswith("    special = torch.isin("))
    lines[number] = "    special = input_ids + torch.ones(3, 999)"
    source.write_text("\n".join(lines), encoding="utf-8")

    result = run_program(students, "pretrain.py", "--reviews", "30", "--steps", "1")

    assert result.returncode == 1
    place = f"pretraining.py, line {number + 1}, in mask_tokens: RuntimeError: The size of tensor"
    assert result.stderr.startswith(place)
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("program", [pretrain, write_review], ids=["pretrain", "write_review"])
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--steps", "0"], "'0' is not a whole number, 1 or more"),
        (["--lr", "7"], "'7' is not a number above 0 and at most 1"),
        (["--text", "nowhere.txt"], "nowhere.txt: no such file or directory"),
        (["--text", str(ROOT / "data" / "train.txt")], "there should be two reviews or more"),
        (["--text", str(ROOT / "checkpoint" / "model.safetensors")], "not UTF-8 text"),
        (["--checkpoint", "nowhere"], "nowhere"),
    ],
)
def test_bad_input_is_one_line(
    program, arguments: list[str], complaint: str, monkeypatch, tmp_path: Path, capsys
) -> None:
    monkeypatch.chdir(tmp_path)

    output = refusal(program.main, arguments, capsys)

    assert output.startswith(f"{program.__name__}.py: ")
    assert complaint in output
    assert not list(tmp_path.iterdir())


# --- fine_tune_mine.py -----------------------------------------------------------------------


def test_fine_tuning_with_ones_own_adamw_learns_what_torchs_does() -> None:
    ids = torch.randint(5, 20, (24, 9), generator=torch.Generator().manual_seed(7))
    data, recipe = (ids, torch.ones_like(ids), (ids[:, 0] > 12).long()), classifier.Recipe(epochs=2)
    states = []
    for adamw in (classifier.AdamW, fine_tune_mine.AdamW):
        torch.manual_seed(0)
        model = classifier.BertSentimentClassifier(BertModel(CONFIG), 2)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(classifier, "AdamW", adamw)
            classifier.fine_tune(model, *data, recipe)
        states.append(model.state_dict())

    for name, expected in states[0].items():
        torch.testing.assert_close(states[1][name], expected, rtol=1e-3, atol=1e-5)


def test_fine_tuning_calls_the_students_update(monkeypatch, capsys) -> None:
    theirs = classifier.AdamW
    monkeypatch.setattr(optimizer.AdamW, "update", raising("optimizer.py", "adamw"))

    def one_step(argv: list[str] | None) -> int:
        parameter = torch.nn.Parameter(torch.ones(2))
        parameter.grad = torch.ones(2)
        classifier.AdamW([parameter], weight_decay=0.0, fused=True).step()
        return 0

    monkeypatch.setattr(classifier, "main", one_step)

    assert fine_tune_mine.main([]) == 1
    assert capsys.readouterr().err == "optimizer.py: Problem (adamw) is not written yet\n"
    assert classifier.AdamW is theirs


# --- what the handout says of them -----------------------------------------------------------

SECTION = TEXT.partition("## Putting the extensions to work\n")[2].partition("\n## ")[0]
ROW = re.compile(r"^\| `(.*\[MASK\].*)` \| (.+) \| (.+) \|$", re.M)
REVIEW = re.compile(r"^    (\w.* \.)\n      (.+)$", re.M)


KINDS = {
    "ADJECTIVE": [word for words in WHOLE.adjectives.values() for word in words],
    "NOUN": [word for words in WHOLE.nouns.values() for word in words],
    "TITLE": [film.title for film in FILMS],
    "LEAD": [film.lead for film in FILMS],
    "GENRE": GENRES,
    "ASPECT": ASPECTS,
    "RIVAL": RIVALS,
}
KIND_OF = {word: kind for kind, words in KINDS.items() for word in words}


def pattern(words: list[str]) -> str:
    """Replace the words of a sentence with their kinds."""
    return " ".join(KIND_OF.get(word, word) for word in words)


def best(cell: str) -> list[tuple[str, float]]:
    """Read a cell of the table of gaps: words and their probabilities."""
    parts = (part.rsplit(" ", 1) for part in cell.split(", "))
    return [(word, float(share)) for word, share in parts]


def guesses(folder: Path, sentence: str) -> list[tuple[str, float]]:
    model = BertForPreTraining.from_pretrained(folder)
    names, shares = pretrain.guess(model, BertTokenizer.from_pretrained(folder), sentence)
    return list(zip(names, shares, strict=True))


def grammatical(review: str) -> float:
    """Return the share of a review's sentences that are built like one in the training data."""
    text = (ROOT / "data" / "pretraining.txt").read_text(encoding="utf-8")
    patterns = {pattern(line.split()) for line in text.splitlines()}
    spaced = re.sub(r"([.,:])", r" \1", review)
    sentences = [f"{part} .".split() for part in spaced.split(".") if part.strip()]
    return sum(pattern(sentence) in patterns for sentence in sentences) / len(sentences)


def test_the_handout_shows_the_staffs_losses() -> None:
    curve = pretrain.read_losses(ROOT / "checkpoint" / pretrain.STAFF)
    assert curve is not None

    for step in range(100, 501, 100):
        tokens, following = training.average(curve[step - 100 : step])
        line = f"    step {step}  masked tokens {tokens:.3f}  next sentence {following:.3f}\n"
        assert line in SECTION


def test_the_handout_shows_how_the_checkpoint_fills_the_gaps() -> None:
    rows = ROW.findall(SECTION)
    assert len(rows) == 3

    for sentence, _, cell in rows:
        assert sentence in pretrain.GAPS
        for (word, share), (guess, chance) in zip(
            best(cell), guesses(ROOT / "checkpoint", sentence), strict=False
        ):
            assert (word, share) == (guess, pytest.approx(chance, abs=0.006))


def test_the_reviews_in_the_handout_are_in_the_language_and_about_their_film() -> None:
    reviews = REVIEW.findall(SECTION)
    assert tuple(beginning for beginning, _ in reviews) == write_review.BEGINNINGS

    for beginning, continuation in reviews:
        assert grammatical(continuation) == 1.0
        assert {word for word in re.findall(r"\w+", continuation) if word in TITLES} == {
            beginning.split()[0]
        }


@pytest.mark.nightly
def test_pretraining_reaches_what_the_handout_says(tmp_path: Path, capsys) -> None:
    assert pretrain.main(["--save", str(tmp_path)]) == 0

    assert "differ by more than chance" not in capsys.readouterr().out
    for sentence, cell, _ in ROW.findall(SECTION):
        ranking = guesses(tmp_path, sentence)
        expected = [word for word, _ in best(cell)]
        assert sorted(word for word, _ in ranking[: len(expected)]) == sorted(expected)
        assert sum(share for _, share in ranking[: len(expected)]) > 0.6


@pytest.mark.nightly
def test_the_decoder_writes_reviews_that_are_grammatical_and_about_their_film(capsys) -> None:
    titles = sorted(TITLES)[:16]
    beginnings = [f"{title} is {'not ' * (i % 2)}dull ." for i, title in enumerate(titles)]

    assert write_review.main(beginnings) == 0

    reviews = re.findall(r"^\w.* \.\n  (.+)$", capsys.readouterr().out, re.M)
    assert len(reviews) == len(beginnings)
    shares = [grammatical(review) for review in reviews]
    assert sum(shares) / len(shares) > 0.85
    on_topic = [title in review for title, review in zip(titles, reviews, strict=True)]
    assert sum(on_topic) > 0.8 * len(on_topic)
