"""The verdict on a review: its parts add up, and nothing that people type is interpreted."""

import io
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from test_visualize import texts
from torch import Tensor, nn

import verdict
from arguments import visible
from conftest import ROOT
from small import refusal, tiny_checkpoint
from typed import LONGEST, typed_lines
from verdict import class_name, judge, log_odds, open_classifier, print_verdict, shapley
from visualize import main

MASK = 4


@pytest.fixture
def tuned(tmp_path: Path) -> Path:
    """A tiny model with random weights, also in its classifier."""
    folder = tiny_checkpoint(tmp_path / "tuned")
    weights = load_file(folder / "model.safetensors")
    torch.manual_seed(3)
    weights["classifier.weight"] = 10 * torch.randn(2, 16)
    save_file(weights, folder / "model.safetensors")
    return folder


class Scoring(nn.Module):
    """Predicts class 1 with log odds that a function of the ids gives."""

    def __init__(self, score) -> None:
        super().__init__()
        self.score = score

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        odds = torch.stack([self.score(row) for row in input_ids])
        return torch.stack([torch.zeros_like(odds), odds], dim=1)


def parts(score, words: int) -> tuple[list[float], float]:
    ids = torch.tensor([[2, *range(10, 10 + words), 3]])
    added, hidden = shapley(Scoring(score), ids, range(1, words + 1), 1, MASK)
    return added.tolist(), hidden


def test_words_that_add_independently_get_what_they_add() -> None:
    worth = torch.zeros(20)
    worth[[10, 11, 12, MASK]] = torch.tensor([2.0, -3.0, 0.5, 0.25])

    added, hidden = parts(lambda row: worth[row].sum(), 3)

    assert hidden == 0.75
    assert added == pytest.approx([1.75, -3.25, 0.25], abs=1e-5)


def test_words_of_which_one_is_enough_share_their_effect() -> None:
    either = lambda row: 4.0 * ((row == 10) | (row == 12)).any().float()  # noqa: E731

    added, hidden = parts(either, 3)

    assert hidden == 0.0
    assert added[1] == 0.0
    assert added[0] == pytest.approx(2.0, abs=0.01)  # the orders come in pairs, there and back
    assert added[2] == pytest.approx(2.0, abs=0.01)


def test_log_odds_of_several_classes_are_against_all_others() -> None:
    logits = torch.tensor([[1.0, 2.0, 3.0]])
    chance = logits.softmax(dim=1)[0, 1]

    assert log_odds(logits, 1).item() == pytest.approx(float((chance / (1 - chance)).log()))
    assert (class_name(0, 2), class_name(1, 2), class_name(1, 5)) == ("bad", "good", "label 1")


def test_the_parts_of_a_verdict_add_up_to_its_probability(tuned: Path) -> None:
    model, tokenizer = open_classifier(tuned)

    result = judge(model, tokenizer, "harbor is witty , see harbor")

    total = torch.tensor(result.hidden + sum(result.added))
    assert result.tokens == ["harbor", "is", "witty", ",", "see", "harbor"]
    assert float(total.sigmoid()) == pytest.approx(result.probability, abs=1e-5)
    assert max(map(abs, result.added)) > 0.001
    assert judge(model, tokenizer, "harbor is witty , see harbor") == result


def test_a_verdict_is_printed_and_drawn_in_the_order_of_the_words(tuned, tmp_path, capsys) -> None:
    out = tmp_path / "why.svg"

    command = ["predict", "harbor", "is", "witty", "--tuned", str(tuned), "--out", str(out)]
    assert main(command) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].partition(",")[0] in ("bad", "good")
    assert lines[1] == "  harbor is witty"
    assert "with every word hidden" in lines[2]
    assert sorted(line.split()[0] for line in lines[3:6]) == ["harbor", "is", "witty"]
    assert {"harbor", "is", "witty", lines[0]} <= set(texts(out))


def test_reviews_are_read_one_a_line_and_bad_ones_are_named(tuned, monkeypatch, capsys) -> None:
    lines = f"harbor is witty\n\n{'see ' * 600}\nsee \x1b[31m harbor\n\udcff\nis"
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))

    assert main(["predict", "--tuned", str(tuned)]) == 2

    captured = capsys.readouterr()
    assert captured.out.count("with probability") == 3
    assert "\x1b" not in captured.out + captured.err
    assert captured.err == (
        f"visualize.py: line 3: the sentence has more than {LONGEST} characters; give a shorter "
        "one\nvisualize.py: line 5: the sentence is not UTF-8 text\n"
    )


def test_a_line_without_end_is_read_in_pieces_of_bounded_size(monkeypatch) -> None:
    class Endless(io.StringIO):
        def readline(self, size: int = -1) -> str:
            assert 0 < size <= LONGEST + 2
            return super().readline(size)

    monkeypatch.setattr(sys, "stdin", Endless("x" * 10 * LONGEST + "\nsee\n"))

    first, second = typed_lines("> ")

    assert (len(first), second) == (LONGEST + 2, "see")


def test_words_are_coloured_on_a_terminal_unless_no_color_is_set(monkeypatch, capsys) -> None:
    result = verdict.Verdict("good", 0.9, ["a", "b", "\x1b"], [2.0, -2.0, 0.0], 0.1)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)

    print_verdict(result)
    coloured = capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    print_verdict(result)

    assert "\x1b[38;5;231;48;5;88ma\x1b[0m \x1b[38;5;231;48;5;18mb\x1b[0m \\x1b\n" in coloured
    assert "\x1b" not in capsys.readouterr().out


def test_unprintable_characters_are_shown_escaped() -> None:
    assert visible("a\x1b[2J\u202eb\n\u200b\u2603") == "a\\x1b[2J\\u202eb\\n\\u200b\u2603"


def test_a_checkpoint_that_is_not_fine_tuned_is_refused(tmp_path: Path, capsys) -> None:
    message = refusal(main, ["predict", "good", "--tuned", str(ROOT / "checkpoint")], capsys)

    assert message.endswith("has no classifier; make one: python classifier.py --save runs/tuned\n")


def test_a_classifier_of_another_width_is_refused(tuned: Path, capsys) -> None:
    weights = load_file(tuned / "model.safetensors")
    weights["classifier.weight"] = torch.zeros(2, 5)
    save_file(weights, tuned / "model.safetensors")

    message = refusal(main, ["predict", "witty", "--tuned", str(tuned)], capsys)

    assert message.endswith("model.safetensors: its classifier does not match the model\n")


def test_special_tokens_are_not_hidden() -> None:
    rows: list[Tensor] = []

    def score(row: Tensor) -> Tensor:
        rows.append(row)
        return row.float().sum()

    parts(score, 2)

    assert {int(row[0]) for row in rows} == {2}
    assert {int(row[-1]) for row in rows} == {3}
