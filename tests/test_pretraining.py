"""The two pre-training tasks, the optimizer, and resuming a killed run."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from instructor.pretraining.run import HALVED, Run, Settings, make_run, same_film_pairs, train

from config import BertConfig
from optimizer import AdamW
from pretraining import (
    IGNORED,
    IS_NEXT,
    NOT_NEXT,
    BertForPreTraining,
    make_sentence_pairs,
    mask_tokens,
    pair_batch,
    pretraining_loss,
)
from tokenizer import SPECIAL_TOKENS, BertTokenizer, wordpiece

SPECIAL, MASK, VOCABULARY = (0, 1, 2, 3, 4), 4, 1000
WORDS = ("good", "bad", "film", "plot", "is", "the", ".")
TINY = Settings(
    width=8,
    heads=2,
    layers=1,
    feed_forward=16,
    phases=(0, 0, 0, 8),
    batch=4,
    report=2,
    snapshot=2,
)


@pytest.fixture(scope="module")
def hidden() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Many ids with special ones at the edges, their masked form, and the labels."""
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(5, VOCABULARY, (400, 100), generator=generator)
    ids[:, 0], ids[:, -5:] = 2, 0
    return ids, *mask_tokens(ids, SPECIAL, MASK, VOCABULARY, generator)


Hidden = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def test_fifteen_percent_of_tokens_are_chosen(hidden: Hidden) -> None:
    ids, _, labels = hidden

    share = (labels != IGNORED).sum() / (ids > 4).sum()

    assert abs(share - 0.15) < 0.01  # 37,600 draws: five standard deviations


def test_chosen_tokens_are_masked_replaced_or_kept_eight_to_one_to_one(hidden: Hidden) -> None:
    ids, masked, labels = hidden
    chosen = labels != IGNORED

    shares = [
        float((masked == MASK)[chosen].float().mean()),
        float(((masked != MASK) & (masked != ids))[chosen].float().mean()),
        float((masked == ids)[chosen].float().mean()),
    ]

    assert shares == pytest.approx([0.8, 0.1, 0.1], abs=0.03)


def test_special_tokens_are_never_chosen(hidden: Hidden) -> None:
    ids, masked, labels = hidden
    special = ids <= 4

    assert (labels[special] == IGNORED).all()
    assert (masked[special] == ids[special]).all()


def test_labels_are_the_true_ids_where_chosen_and_all_else_is_unchanged(hidden: Hidden) -> None:
    ids, masked, labels = hidden
    chosen = labels != IGNORED

    assert (labels[chosen] == ids[chosen]).all()
    assert (masked[~chosen] == ids[~chosen]).all()


def documents() -> list[list[list[int]]]:
    """Documents whose sentences say which they are: [document, sentence, ...]."""
    return [[[d, s] + [9] * (s % 5) for s in range(6)] for d in range(200)]


def test_half_of_the_pairs_are_true_and_the_others_come_from_another_document() -> None:
    pairs = make_sentence_pairs(documents(), random.Random(1), max_length=20)

    true = [pair for pair in pairs if pair[2] == IS_NEXT]
    assert len(pairs) == 200 * 5
    assert abs(len(true) - 500) < 80  # five standard deviations
    assert all(b[:2] == [a[0], a[1] + 1] for a, b, _ in true)
    assert all(a[0] != b[0] for a, b, label in pairs if label != IS_NEXT)


def test_pairs_fit_and_the_longer_sentence_is_cut() -> None:
    texts = [[[1] * 30, [2] * 4], [[3] * 30, [4] * 4]]

    pairs = make_sentence_pairs(texts, random.Random(1), max_length=20)

    assert all(len(a) + len(b) + 3 <= 20 for a, b, _ in pairs)
    assert all(len(b) >= 4 for _, b, _ in pairs)


def test_the_decoder_is_the_word_embedding() -> None:
    config = BertConfig(20, 8, 1, 2, 16, max_position_embeddings=9)
    model = BertForPreTraining(config)

    names = [name for name, p in model.named_parameters() if p.shape == (20, 8)]

    assert names == ["bert.word_embedding.weight"]


def test_the_joint_loss_is_the_sum_of_both() -> None:
    logits, labels = torch.randn(2, 3, 5), torch.tensor([[1, IGNORED, 2], [IGNORED, 0, IGNORED]])
    following, truth = torch.randn(2, 2), torch.tensor([0, 1])

    loss = pretraining_loss(logits, labels, following, truth)

    chosen = labels != IGNORED
    tokens = nn.functional.cross_entropy(logits[chosen], labels[chosen])
    assert loss == pytest.approx(tokens + nn.functional.cross_entropy(following, truth))


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_adamw_agrees_with_torchs(weight_decay: float) -> None:
    torch.manual_seed(0)
    ours, theirs = nn.Linear(5, 3).double(), nn.Linear(5, 3).double()
    theirs.load_state_dict(ours.state_dict())
    options: dict[str, Any] = {"lr": 0.01, "eps": 1e-6, "weight_decay": weight_decay}
    steps = [(ours, AdamW(ours.parameters(), **options))]
    steps.append((theirs, torch.optim.AdamW(theirs.parameters(), **options)))

    for seed in range(6):
        for model, optimizer in steps:
            x = torch.randn(4, 5, generator=torch.Generator().manual_seed(seed)).double()
            optimizer.zero_grad()
            model(x).square().sum().backward()
            optimizer.step()

    torch.testing.assert_close(ours.weight, theirs.weight, rtol=0, atol=1e-7)


@pytest.fixture
def new_run() -> Callable[[], Run]:
    """Make the same tiny run again and again."""
    pieces = [*SPECIAL_TOKENS, *WORDS]
    tokenizer = BertTokenizer(wordpiece({piece: number for number, piece in enumerate(pieces)}))
    rng = random.Random(3)
    reviews = [[[rng.randrange(5, 12) for _ in range(5)] for _ in range(3)] for _ in range(12)]

    def make() -> Run:
        return make_run(
            TINY, tokenizer, [{}, {}, {}, {"harbor": reviews[:8], "ember": reviews[8:]}]
        )

    return make


def test_a_killed_run_ends_with_the_same_weights(
    new_run: Callable[[], Run], tmp_path: Path
) -> None:
    def killed_after(steps: int) -> Callable[[Run], None]:
        def tell(run: Run) -> None:
            if run.step == steps:
                raise KeyboardInterrupt

        return tell

    whole, first, second = new_run(), new_run(), new_run()
    train(whole, tmp_path / "whole", lambda run: None)
    with pytest.raises(KeyboardInterrupt):
        train(first, tmp_path / "killed", killed_after(5))
    train(second, tmp_path / "killed", lambda run: None)

    for name, value in whole.model.state_dict().items():
        assert torch.equal(value, second.model.state_dict()[name]), name
    assert second.curve == whole.curve
    assert len(list((tmp_path / "killed").glob("step-*.pt"))) == 3


def test_a_damaged_snapshot_is_skipped(
    new_run: Callable[[], Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(new_run(), tmp_path, lambda run: None)
    newest = max(tmp_path.glob("step-*.pt"))
    newest.write_bytes(newest.read_bytes()[:100])

    again = new_run()
    train(again, tmp_path, lambda run: None)

    assert again.step == TINY.steps
    assert "skipped, the snapshot is damaged" in capsys.readouterr().err


def test_a_pair_is_written_with_its_segments() -> None:
    tokenizer = BertTokenizer(
        wordpiece({piece: number for number, piece in enumerate([*SPECIAL_TOKENS, *WORDS])})
    )

    batch = pair_batch([([5, 6], [7], 1)], tokenizer)

    assert batch["input_ids"].tolist() == [[2, 5, 6, 3, 7, 3]]
    assert batch["token_type_ids"].tolist() == [[0, 0, 0, 0, 1, 1]]
    assert batch["next_sentence_label"].tolist() == [1]


def test_second_sentences_are_about_the_same_film() -> None:
    films = {"harbor": [[[5, 5], [5]], [[5], [5, 5]]], "ember": [[[6], [6]]] * 30}

    pairs = same_film_pairs(films.values(), random.Random(1), 64)

    assert {label for _, _, label in pairs} == {IS_NEXT, NOT_NEXT}
    assert all(len({*first, *second}) == 1 for first, second, _ in pairs)  # tokens of one film


def test_long_reviews_are_also_paired_as_two_halves() -> None:
    reviews = [[[5], [6], [7], [8], [9]]] * 400

    pairs = same_film_pairs([reviews], random.Random(1), 64)

    halves = [(first, second) for first, second, _ in pairs if len(first) > 1]
    assert ([5, 6], [7, 8, 9]) in halves
    assert len(halves) == pytest.approx(HALVED * 400, abs=25)
