"""The handout's diagrams show what the code does, and can be read on a phone and aloud."""

import re
import shutil
from pathlib import Path

import pytest
import torch
from torch import Tensor

from bert import BertModel
from instructor.figures import main
from pretraining import IGNORED, IS_NEXT, pair_batch
from tests.helpers import ROOT
from tests.helpers.attention_example import solved
from tests.helpers.diagrams import SCALE, SVG, WIDTH, Diagram
from tokenizer import BertTokenizer
from transformer import causal_mask
from utils import get_extended_attention_mask

CHECKPOINT = ROOT / "checkpoint"
PICTURES = ROOT / "handout" / "pictures"
FILES = sorted(PICTURES.glob("*.svg"))
PHONE = 328  # pixels between the margins of the page on a narrow phone

figures = pytest.mark.parametrize("drawn", [*map(Diagram, FILES)], ids=[p.stem for p in FILES])


def test_the_diagrams_have_the_checkpoints_numbers(capsys) -> None:
    assert main(["--check"]) == 0
    assert f"wrote 0 of {len(FILES)}" in capsys.readouterr().out


def test_the_numbers_of_another_checkpoint_are_written(tmp_path: Path, capsys) -> None:
    shutil.copytree(ROOT / "handout" / "pictures", tmp_path / "handout" / "pictures")
    shutil.copytree(ROOT / "checkpoint", tmp_path / "checkpoint")
    tokens = tmp_path / "checkpoint" / "vocab.txt"
    tokens.write_text("[first]\n" + tokens.read_text("utf-8"), "utf-8")
    config = tmp_path / "checkpoint" / "config.json"
    config.write_text(re.sub('("vocab_size": )\\d+', r"\1 999", config.read_text("utf-8")), "utf-8")
    before = Diagram(tmp_path / "handout" / "pictures" / "model.svg").matrix(1)[0]

    assert main(["--check"], tmp_path) == 1
    names = "embedding.svg, model.svg, pretraining.svg"
    assert capsys.readouterr().err.startswith(f"{names}: numbers differ from the checkpoint's")
    assert main([], tmp_path) == 0

    embedding, model = (
        Diagram(tmp_path / "handout" / "pictures" / f"{n}.svg") for n in ("embedding", "model")
    )
    shifted = [str(int(number) + 1) for number in before]
    assert model.matrix(1)[0] == embedding.matrix(0)[0] == shifted
    assert embedding.matrix(1)[0] == [f"w{number}" for number in shifted]
    assert "one of 999 rows" in embedding.words
    mask = tmp_path / "handout" / "pictures" / "mask.svg"
    assert mask.read_bytes() == (ROOT / "handout" / "pictures" / "mask.svg").read_bytes()


@figures
def test_a_diagram_has_a_title_and_a_description_and_loads_and_runs_nothing(drawn: Diagram) -> None:
    parts = [drawn.root.find(f"{SVG}{name}") for name in ("title", "desc")]

    assert drawn.root.attrib["role"] == "img"
    assert [len(part.text or "") > 5 for part in parts if part is not None] == [True, True]
    names = [part.attrib["id"] for part in parts if part is not None]
    assert drawn.root.attrib["aria-labelledby"].split() == names
    assert not re.findall(r"url\(|@import|<script|<foreignObject|href|\bon\w+=", drawn.text)
    assert len(drawn.text) < 20_000


@figures
def test_words_can_be_read_on_a_phone(drawn: Diagram) -> None:
    sizes = [float(element.attrib["font-size"]) for element in drawn.root.iter(f"{SVG}text")]

    assert min(sizes) * PHONE / WIDTH > 9
    assert drawn.root.attrib["viewBox"].split()[2] == str(WIDTH)
    assert float(drawn.root.attrib["width"]) == WIDTH * SCALE
    assert float(drawn.root.attrib["height"]) < 850  # a screen


# --- what they show -----------------------------------------------------------------------------


def figure(name: str) -> Diagram:
    return Diagram(PICTURES / f"{name}.svg")


def text(numbers: Tensor, digits: int = 0) -> list[list[str]]:
    """Write a matrix as the figures do, without a minus before 0."""
    return [[f"{number + 0.0:.{digits}f}" for number in row] for row in numbers.tolist()]


def test_the_model_has_the_names_sizes_and_ids_of_the_checkpoint() -> None:
    model = BertModel.from_pretrained(CHECKPOINT)
    drawn = figure("model")
    embedding = figure("embedding")
    batch = BertTokenizer.from_pretrained(CHECKPOINT)(["not dull .", "not not dull ."])
    row = {name: text(batch[name][:1]) for name in ("input_ids", "attention_mask")}

    layers = [label for label in drawn.words if label.startswith("bert_layers")]
    assert layers == [f"bert_layers[{i}]" for i in range(len(model.bert_layers))]
    assert [drawn.matrix(0), drawn.matrix(1)] == [row["attention_mask"], row["input_ids"]]
    for name in ("pooler_dense", "pooler_af", "embed", "encode"):
        assert name in drawn.words
        assert hasattr(model, name)
    tables = ("word_embedding", "pos_embedding", "tk_type_embedding")
    rows = [label for label in embedding.words if label.startswith("one of")]
    assert rows == [f"one of {len(getattr(model, name).weight)} rows" for name in tables]
    assert [label for label in embedding.words if label in tables] == [*tables]
    [ids] = embedding.matrix(0)
    assert embedding.matrix(1) == [[f"w{number}" for number in ids]]
    assert embedding.matrix(2) == [[f"p{place}" for place in range(len(ids))]]


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
