"""The handout's diagrams show what the code does: every name, number and shape in them."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from bert import BertModel
from config import BertConfig
from pretraining import IGNORED, IS_NEXT, pair_batch
from tests.helpers import ROOT
from tests.helpers.attention_example import solved
from tests.helpers.diagrams import Diagram
from tokenizer import BertTokenizer
from transformer import causal_mask
from utils import get_extended_attention_mask

CHECKPOINT = ROOT / "checkpoint"
LETTERS = {3: "B", 7: "T", 6: "S", 2: "H", 5: "d", 10: "D", 17: "F", 19: "V", 1: "1"}
SIZES = BertConfig(
    vocab_size=19, hidden_size=10, num_hidden_layers=2, num_attention_heads=2,
    intermediate_size=17, max_position_embeddings=11,
)  # fmt: skip
IDS = torch.arange(21).view(3, 7) % 19
MASK = torch.ones(3, 7)


def figure(name: str) -> Diagram:
    return Diagram(ROOT / "handout" / "pictures" / f"{name}.svg")


def letters(tensor: Tensor) -> str:
    """Write a shape as the handout does."""
    return f"({', '.join(LETTERS[size] for size in tensor.shape)})"


def text(numbers: Tensor, digits: int = 0) -> list[list[str]]:
    """Write a matrix as the figures do, without a minus before 0."""
    return [[f"{number + 0.0:.{digits}f}" for number in row] for row in numbers.tolist()]


@contextmanager
def recorded_outputs(module: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Record what each module within `module` returns, by name."""
    outputs: dict[str, Tensor] = {}
    hooks = [
        part.register_forward_hook(lambda _, __, out, name=name: outputs.update({name: out}))
        for name, part in module.named_modules()
        if name
    ]
    yield outputs
    for hook in hooks:
        hook.remove()


def test_the_whole_model_has_the_names_and_ids_of_the_checkpoint() -> None:
    model = BertModel.from_pretrained(CHECKPOINT)
    drawn = figure("model")
    tokenizer = BertTokenizer.from_pretrained(CHECKPOINT)

    layers = [label for label in drawn.words if label.startswith("bert_layers")]
    assert layers == [f"bert_layers[{i}]" for i in range(len(model.bert_layers))]
    batch = tokenizer(["not dull .", "not not dull ."])
    row = {name: text(batch[name][:1]) for name in ("input_ids", "attention_mask")}
    assert [drawn.matrix(0), drawn.matrix(1)] == [row["attention_mask"], row["input_ids"]]
    for name in ("pooler_dense", "pooler_af", "embed", "encode"):
        assert name in drawn.words
        assert hasattr(model, name)


def test_the_embedding_adds_the_rows_that_are_written() -> None:
    model = BertModel.from_pretrained(CHECKPOINT)
    drawn = figure("embedding")
    tiny = BertModel(SIZES)

    with recorded_outputs(tiny) as outputs:
        total = tiny.embed(IDS)
    tables = ("word_embedding", "pos_embedding", "tk_type_embedding")
    shapes = [letters(outputs[name]) for name in tables]
    assert drawn.tensor_shapes == [letters(IDS), *shapes, letters(total), letters(total)]
    rows = [label for label in drawn.words if label.startswith("one of")]
    assert rows == [f"one of {len(getattr(model, name).weight)} rows" for name in tables]
    assert [label for label in drawn.words if label in outputs] == [*tables, *list(outputs)[3:]]

    [ids] = drawn.matrix(0)
    assert drawn.matrix(1) == [[f"w{number}" for number in ids]]
    assert drawn.matrix(2) == [[f"p{place}" for place in range(len(ids))]]
    assert drawn.matrix(3) == [["t0"] * len(ids)]


def test_attention_by_hand_is_what_the_solution_computes() -> None:
    drawn = figure("attention-by-hand")
    example = solved()
    query, key, value, scores, scaled, probabilities, output = (part[0] for part in example[:7])

    assert drawn.matrix(0) == text(query)
    assert drawn.matrix(1) == text(key.T)
    assert drawn.matrix(2) == text(scores)
    assert drawn.matrix(3) == text(scaled, 3)
    assert drawn.matrix(5) == text(probabilities, 3)
    assert drawn.matrix(6) == text(value)
    assert drawn.matrix(7) == text(output, 3)


def test_the_mask_becomes_the_numbers_that_are_written() -> None:
    drawn = figure("mask")
    mask = torch.tensor([[int(number) for number in row] for row in drawn.matrix(0)])
    assert mask.sum(dim=1).unique().numel() == len(mask) > 2

    extended = get_extended_attention_mask(mask, torch.float32)

    assert drawn.matrix(1) == text(extended[:, 0, 0])
    assert drawn.kinds(0) == drawn.kinds(1)
    assert drawn.matrix(2) == [["0", "0", "-1e4", "-1e4"]]
    assert [float(number) for number in drawn.matrix(2)[0]] == extended[1, 0, 0].tolist()


def test_the_decoders_masks_hide_the_cells_that_are_drawn_as_hidden() -> None:
    drawn = figure("decoder")
    T = len(drawn.kinds(0))
    S = len(drawn.kinds(1)[0])
    source = torch.tensor([[1] * 3 + [0] * (S - 3)])

    cross = get_extended_attention_mask(source, torch.float32)[0, 0].expand(T, S)

    for place, mask in enumerate((causal_mask(torch.ones(1, T))[0, 0], cross)):
        hidden = [["hidden" if number else "plain" for number in row] for row in mask.tolist()]
        assert drawn.kinds(place) == hidden


def test_the_pair_is_what_pair_batch_makes() -> None:
    drawn = figure("pretraining")
    tokenizer = BertTokenizer.from_pretrained(CHECKPOINT)
    [tokens] = drawn.matrix(0)
    ids = [tokenizer.tokenizer.token_to_id(token) for token in tokens]
    end = tokens.index("[SEP]")

    batch = pair_batch([(ids[1:end], ids[end + 1 : -1], IS_NEXT)], tokenizer)

    assert batch["input_ids"].tolist() == [ids]
    assert drawn.matrix(1) == text(batch["token_type_ids"])
    hidden = drawn.matrix(2)[0]
    labels = drawn.matrix(3)[0]
    for place, label in enumerate(labels):
        chosen = drawn.kinds(2)[0][place] != "plain"
        assert label == (str(ids[place]) if chosen else str(IGNORED))
        assert chosen or hidden[place] == tokens[place]
    fates = [label for label in drawn.words if "%" in label]
    assert fates == ["80% [MASK]", "10% random", "10% stay"]
