"""write_review.py: its decoder learns with a student's extensions, and cannot see ahead."""

import re
from pathlib import Path

import pytest
import torch

import write_review
from bert import BertModel
from small import CONFIG, nothing, random_text, tiny_checkpoint
from small import tiny as tiny
from tokenizer import BertTokenizer


def test_a_review_is_written_for_each_beginning(tiny: list[str], capsys) -> None:
    beginnings = ["harbor is witty .", "avoid harbor ."]

    outputs = []
    for _ in range(2):
        assert write_review.main([*beginnings, *tiny, "--steps", "2"]) == 0
        outputs.append(re.sub(r"[0-9.]+ s$", "", capsys.readouterr().out, flags=re.M))

    assert all(f"\n{beginning}\n  " in outputs[0] for beginning in beginnings)
    assert outputs[0] == outputs[1]


def writer() -> write_review.ReviewWriter:
    torch.manual_seed(3)
    return write_review.ReviewWriter(BertModel(CONFIG)).eval()


def test_the_decoder_does_not_see_later_tokens_or_padding_of_the_source() -> None:
    model, ids = writer(), torch.tensor([[2, 7, 9, 8, 5]])
    source, source_mask = torch.tensor([[2, 6, 3, 0]]), torch.tensor([[1, 1, 1, 0]])
    mask = torch.ones_like(ids)
    expected = model(ids, mask, model.read(source, source_mask), source_mask)

    others, padding = ids.clone(), source.clone()
    others[0, 3:], padding[0, 3] = 11, 12
    actual = model(others, mask, model.read(padding, source_mask), source_mask)

    torch.testing.assert_close(actual[:, :3], expected[:, :3])
    assert not torch.allclose(actual[:, 3:], expected[:, 3:])


def test_only_the_decoder_is_trained(tmp_path: Path) -> None:
    checkpoint, text = tiny_checkpoint(tmp_path / "a"), random_text(tmp_path / "text.txt")
    tokenizer, model = BertTokenizer.from_pretrained(checkpoint), writer()
    examples = write_review.read_examples(text, tokenizer, 24)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}

    list(write_review.losses(model, tokenizer, examples, write_review.Recipe(steps=3)))

    moved = {n for n, tensor in model.state_dict().items() if not torch.equal(tensor, before[n])}
    fixed = {name for name in before if name.startswith("bert.") or name == "positions"}
    assert moved == before.keys() - fixed


@pytest.mark.parametrize("leaks", [False, True])
def test_a_decoder_that_sees_the_answer_is_noticed(
    tiny: list[str], monkeypatch, capsys, leaks: bool
) -> None:
    if leaks:
        zeros = lambda mask: torch.zeros(len(mask), 1, mask.shape[1], mask.shape[1])  # noqa: E731
        monkeypatch.setattr(write_review, "causal_mask", zeros)

    assert write_review.main([*tiny, "--steps", "2"]) == 0

    assert ("the decoder sees what it should predict" in capsys.readouterr().out) == leaks


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("causal_mask", nothing, "causal_mask should return a tensor of shape (8, 1, "),
        ("sinusoidal_positions", nothing, "sinusoidal_positions should return a tensor of shape"),
        ("layer_norm", nothing, "layer_norm should return a tensor of shape (8, "),
    ],
)
def test_a_wrong_result_in_the_decoder_is_one_line(
    tiny: list[str], monkeypatch, capsys, name: str, wrong, message: str
) -> None:
    monkeypatch.setattr(write_review, name, wrong)

    assert write_review.main(tiny) == 1

    output = capsys.readouterr().err
    assert output.startswith(f"write_review.py: {message}")
    assert output.count("\n") == 1


def test_a_temperature_is_above_zero(capsys) -> None:
    with pytest.raises(SystemExit):
        write_review.main(["--temperature", "0"])

    assert "'0' is not a number above 0" in capsys.readouterr().err
