"""The handout's diagrams show what the code does, and can be read on a phone and aloud."""

import re
import shutil

import pytest

from bert import BertModel
from instructor.figures import main
from tests.helpers import ROOT
from tests.helpers.attention_example import solved
from tests.helpers.diagrams import SVG, WIDTH, Diagram
from tokenizer import BertTokenizer

CHECKPOINT = ROOT / "checkpoint"
PICTURES = ROOT / "handout" / "pictures"
FILES = sorted(PICTURES.glob("*.svg"))
TABLES = ("word_embedding", "pos_embedding", "tk_type_embedding")
SMALLEST = 11  # the size of words that can be read on a phone, in a diagram of WIDTH


def text(numbers, digits=0):
    """Write a matrix as the figures do, without a minus before 0."""
    return [[f"{number + 0.0:.{digits}f}" for number in row] for row in numbers.tolist()]


def test_the_diagrams_have_the_checkpoints_numbers(capsys):
    assert main(["--check"]) == 0
    assert f"wrote 0 of {len(FILES)}" in capsys.readouterr().out


def test_the_numbers_of_another_checkpoint_are_written(tmp_path, capsys):
    pictures = tmp_path / "handout" / "pictures"
    shutil.copytree(PICTURES, pictures)
    shutil.copytree(CHECKPOINT, tmp_path / "checkpoint")
    tokens = tmp_path / "checkpoint" / "vocab.txt"
    tokens.write_text("[first]\n" + tokens.read_text("utf-8"), "utf-8")
    config = tmp_path / "checkpoint" / "config.json"
    config.write_text(re.sub('("vocab_size": )\\d+', r"\1 999", config.read_text("utf-8")), "utf-8")
    (before,) = Diagram(pictures / "model.svg").matrices[1]

    assert main(["--check"], tmp_path) == 1
    assert capsys.readouterr().err.startswith("embedding.svg, model.svg, pretraining.svg: ")
    assert main([], tmp_path) == 0

    embedding, model = (Diagram(pictures / f"{name}.svg") for name in ("embedding", "model"))
    shifted = [str(int(number) + 1) for number in before]
    assert model.matrices[1] == embedding.matrices[0] == [shifted]
    assert embedding.matrices[1] == [[f"w{number}" for number in shifted]]
    assert "one of 999 rows" in embedding.words
    assert (pictures / "mask.svg").read_bytes() == (PICTURES / "mask.svg").read_bytes()


@pytest.mark.parametrize("drawn", list(map(Diagram, FILES)), ids=[path.stem for path in FILES])
def test_a_diagram_can_be_read_small_and_aloud_and_loads_and_runs_nothing(drawn):
    parts = [drawn.root.find(f"{SVG}{name}") for name in ("title", "desc")]
    sizes = [float(element.attrib["font-size"]) for element in drawn.root.iter(f"{SVG}text")]

    assert drawn.root.attrib["role"] == "img"
    assert [len(part.text or "") > 5 for part in parts if part is not None] == [True, True]
    names = [part.attrib["id"] for part in parts if part is not None]
    assert drawn.root.attrib["aria-labelledby"].split() == names
    assert not re.findall(r"url\(|@import|<script|<foreignObject|href|\bon\w+=", drawn.text)
    assert drawn.root.attrib["viewBox"].split()[2] == str(WIDTH)
    assert min(sizes) >= SMALLEST


def test_the_model_has_the_names_sizes_and_ids_of_the_checkpoint():
    model = BertModel.from_pretrained(CHECKPOINT)
    drawn, embedding = (Diagram(PICTURES / f"{name}.svg") for name in ("model", "embedding"))
    batch = BertTokenizer.from_pretrained(CHECKPOINT)(["not dull .", "not not dull ."])

    layers = [label for label in drawn.words if label.startswith("bert_layers")]
    assert layers == [f"bert_layers[{i}]" for i in range(len(model.bert_layers))]
    numbers = [text(batch[name][:1]) for name in ("attention_mask", "input_ids")]
    assert drawn.matrices[:2] == numbers
    for name in ("pooler_dense", "pooler_af", "embed", "encode"):
        assert name in drawn.words
        assert hasattr(model, name)
    rows = [label for label in embedding.words if label.startswith("one of")]
    assert rows == [f"one of {len(getattr(model, name).weight)} rows" for name in TABLES]
    assert [label for label in embedding.words if label in TABLES] == list(TABLES)


def test_attention_by_hand_is_what_the_solution_computes():
    drawn = Diagram(PICTURES / "attention-by-hand.svg").matrices
    example = solved()
    query, key, value, scores, scaled, probabilities, output = (part[0] for part in example[:7])

    assert drawn[:3] == [text(query), text(key.T), text(scores)]
    assert drawn[3] == text(scaled, 3)
    assert drawn[5:8] == [text(probabilities, 3), text(value), text(output, 3)]
