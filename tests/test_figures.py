"""The handout's diagrams have the checkpoint's numbers, and can be read on a phone and aloud."""

import re
import shutil
from pathlib import Path

import pytest

from instructor.figures import main
from tests.helpers import ROOT
from tests.helpers.diagrams import SCALE, SVG, WIDTH, Diagram

FILES = sorted((ROOT / "handout" / "pictures").glob("*.svg"))
NAMES = [path.stem for path in FILES]
PHONE = 328  # pixels between the margins of the page on a narrow phone

figures = pytest.mark.parametrize("drawn", [*map(Diagram, FILES)], ids=NAMES)


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
