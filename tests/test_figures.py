"""The handout's diagrams have the checkpoint's numbers, and can be read on a phone and aloud."""

import itertools
import re
import shutil
from pathlib import Path

import pytest

from instructor.figures import main
from tests.helpers import ROOT
from tests.helpers.diagrams import SCALE, SVG, WIDTH, Drawn, Words

FILES = sorted((ROOT / "handout" / "pictures").glob("*.svg"))
NAMES = [path.stem for path in FILES]
PHONE = 328  # pixels between the margins of the page on a narrow phone

figures = pytest.mark.parametrize("drawn", [*map(Drawn, FILES)], ids=NAMES)


def overlap(first: Words, second: Words) -> bool:
    """Return whether two rectangles have more than an edge in common."""
    wide = min(first.x + first.w, second.x + second.w) - max(first.x, second.x)
    return wide > 0 and min(first.y + first.h, second.y + second.h) > max(first.y, second.y)


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
    before = Drawn(tmp_path / "handout" / "pictures" / "model.svg").matrix(1)[0]

    assert main(["--check"], tmp_path) == 1
    names = "embedding.svg, model.svg, pretraining.svg"
    assert capsys.readouterr().err.startswith(f"{names}: numbers differ from the checkpoint's")
    assert main([], tmp_path) == 0

    embedding, model = (
        Drawn(tmp_path / "handout" / "pictures" / f"{n}.svg") for n in ("embedding", "model")
    )
    shifted = [str(int(number) + 1) for number in before]
    assert model.matrix(1)[0] == embedding.matrix(0)[0] == shifted
    assert embedding.matrix(1)[0] == [f"w{number}" for number in shifted]
    assert "one of 999 rows" in embedding.shown
    mask = tmp_path / "handout" / "pictures" / "mask.svg"
    assert mask.read_bytes() == (ROOT / "handout" / "pictures" / "mask.svg").read_bytes()


def test_a_word_that_is_not_in_the_vocabulary_is_an_error(tmp_path: Path, capsys) -> None:
    shutil.copytree(ROOT / "checkpoint", tmp_path / "checkpoint")
    path = tmp_path / "checkpoint" / "vocab.txt"
    path.write_text(path.read_text("utf-8").replace("\ndull\n", "\ndim\n"), "utf-8")
    shutil.copytree(ROOT / "handout" / "pictures", tmp_path / "handout" / "pictures")

    assert main([], tmp_path) == 2
    assert capsys.readouterr().err.startswith("figures: the checkpoint has no id of 'dull'")


@figures
def test_a_screen_reader_finds_a_title_and_a_description(drawn: Drawn) -> None:
    title = drawn.root.find(f"{SVG}title")
    description = drawn.root.find(f"{SVG}desc")

    assert drawn.root.attrib["role"] == "img"
    assert title is not None
    assert description is not None
    assert (
        drawn.root.attrib["aria-labelledby"] == f"{title.attrib['id']} {description.attrib['id']}"
    )
    assert 5 < len(title.text or "") < 60
    assert len(description.text or "") > 100


@figures
def test_a_figure_loads_nothing_and_runs_nothing(drawn: Drawn) -> None:
    assert not re.findall(r"url\(|@import|<script|<foreignObject|href|\bon\w+=", drawn.text)
    assert len(drawn.text) < 20_000


@figures
def test_words_are_inside_the_figure_and_do_not_overlap(drawn: Drawn) -> None:
    _, _, width, height = map(float, drawn.root.attrib["viewBox"].split())

    assert width == WIDTH
    assert all(words.x >= 0 and words.x + words.w <= width for words in drawn.words)
    assert all(words.y >= 0 and words.y + words.h <= height for words in drawn.words)
    pairs = itertools.combinations(drawn.words, 2)
    assert [(first.text, second.text) for first, second in pairs if overlap(first, second)] == []


@figures
def test_words_can_be_read_on_a_phone(drawn: Drawn) -> None:
    sizes = [float(element.attrib["font-size"]) for element in drawn.root.iter(f"{SVG}text")]

    assert min(sizes) * PHONE / WIDTH > 9
    assert float(drawn.root.attrib["width"]) == WIDTH * SCALE
    assert float(drawn.root.attrib["height"]) < 850  # a screen
