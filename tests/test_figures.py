"""The handout's diagrams can be read by every eye, in both modes, on a phone, and by a machine."""

import itertools
import re
import shutil
from pathlib import Path

import pytest

from instructor.figures import main

from conftest import ROOT
from drawn import SCALE, SVG, WIDTH, Drawn, Shape, Words

FILES = sorted((ROOT / "pictures").glob("*.svg"))
NAMES = [path.stem for path in FILES]
MODES = Drawn(FILES[0]).modes
LEAST = 4.5  # contrast of words, for WCAG's level AA; 3 for outlines and lines
PHONE = 328  # pixels between the margins of the page on a narrow phone
# What reaches the eyes of people who lack one kind of cone, by Viénot, Brettel and Mollon (1999).
SEEN = {
    "protan": ((0.11238, 0.88762, 0.0), (0.11238, 0.88762, 0.0), (0.00401, -0.00401, 1.0)),
    "deutan": ((0.29275, 0.70725, 0.0), (0.29275, 0.70725, 0.0), (-0.02234, 0.02234, 1.0)),
    "trichromat": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "achromat": ((0.2126, 0.7152, 0.0722),) * 3,
}

figures = pytest.mark.parametrize("drawn", [*map(Drawn, FILES)], ids=NAMES)


def linear(color: str) -> tuple[float, ...]:
    """Return red, green and blue as amounts of light, from 0 to 1."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return tuple(p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)


def contrast(first: str, second: str) -> float:
    """Return the contrast of two colors as WCAG defines it."""
    red, green, blue = 0.2126, 0.7152, 0.0722
    light = [red * r + green * g + blue * b for r, g, b in map(linear, (first, second))]
    return (max(light) + 0.05) / (min(light) + 0.05)


def overlap(first: Words, second: Words) -> bool:
    """Return whether two rectangles have more than an edge in common."""
    wide = min(first.x + first.w, second.x + second.w) - max(first.x, second.x)
    return wide > 0 and min(first.y + first.h, second.y + second.h) > max(first.y, second.y)


def crossed(words: Words, line: list[tuple[float, float]]) -> bool:
    """Return whether a line, which is straight from point to point, goes through words."""
    inside = Shape("", words.x, words.y, words.w, words.h)
    for (x0, y0), (x1, y1) in itertools.pairwise(line):
        steps = range(101)
        if any(inside.holds(x0 + (x1 - x0) * i / 100, y0 + (y1 - y0) * i / 100) for i in steps):
            return True
    return False


def beneath(drawn: Drawn, words: Words) -> Shape:
    return [shape for shape in drawn.shapes if shape.holds(*words.middle)][-1]


def neighbors(drawn: Drawn) -> set[tuple[str, str]]:
    """Return the kinds of cells that are side by side, or one below the other."""
    pairs = set[tuple[str, str]]()
    for place in range(len(drawn.matrices)):
        kinds = drawn.kinds(place)
        for rows in (kinds, list(zip(*kinds, strict=True))):
            pairs |= {pair for row in rows for pair in itertools.pairwise(row)}
    return pairs


def test_the_diagrams_have_the_checkpoints_numbers(capsys) -> None:
    assert main(["--check"]) == 0
    assert f"wrote 0 of {len(FILES)}" in capsys.readouterr().out


def test_the_numbers_of_another_checkpoint_are_written(tmp_path: Path, capsys) -> None:
    shutil.copytree(ROOT / "pictures", tmp_path / "pictures")
    shutil.copytree(ROOT / "checkpoint", tmp_path / "checkpoint")
    tokens = tmp_path / "checkpoint" / "vocab.txt"
    tokens.write_text("[first]\n" + tokens.read_text("utf-8"), "utf-8")
    config = tmp_path / "checkpoint" / "config.json"
    config.write_text(re.sub('("vocab_size": )\\d+', r"\1 999", config.read_text("utf-8")), "utf-8")
    before = Drawn(tmp_path / "pictures" / "model.svg").matrix(1)[0]

    assert main(["--check"], tmp_path) == 1
    names = "embedding.svg, model.svg, pretraining.svg"
    assert capsys.readouterr().err.startswith(f"{names}: numbers differ from the checkpoint's")
    assert main([], tmp_path) == 0

    embedding, model = (Drawn(tmp_path / "pictures" / f"{n}.svg") for n in ("embedding", "model"))
    shifted = [str(int(number) + 1) for number in before]
    assert model.matrix(1)[0] == embedding.matrix(0)[0] == shifted
    assert embedding.matrix(1)[0] == [f"w{number}" for number in shifted]
    assert "one of 999 rows" in embedding.shown
    mask = tmp_path / "pictures" / "mask.svg"
    assert mask.read_bytes() == (ROOT / "pictures" / "mask.svg").read_bytes()


def test_a_word_that_is_not_in_the_vocabulary_is_an_error(tmp_path: Path, capsys) -> None:
    shutil.copytree(ROOT / "checkpoint", tmp_path / "checkpoint")
    path = tmp_path / "checkpoint" / "vocab.txt"
    path.write_text(path.read_text("utf-8").replace("\ndull\n", "\ndim\n"), "utf-8")
    shutil.copytree(ROOT / "pictures", tmp_path / "pictures")

    assert main([], tmp_path) == 2
    assert capsys.readouterr().err.startswith("figures: the checkpoint has no id of 'dull'")


@figures
def test_a_screen_reader_finds_a_title_and_a_description(drawn: Drawn) -> None:
    title, description = drawn.root.find(f"{SVG}title"), drawn.root.find(f"{SVG}desc")

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
def test_no_line_goes_through_words(drawn: Drawn) -> None:
    pairs = itertools.product(drawn.words, drawn.lines)

    assert [words.text for words, line in pairs if crossed(words, line)] == []


@figures
def test_words_have_the_color_for_the_shape_that_they_are_on(drawn: Drawn) -> None:
    for words in drawn.words:
        shape = beneath(drawn, words)
        assert words.kind == shape.kind, words.text
        assert shape.x <= words.x, words.text
        assert words.x + words.w <= shape.x + shape.w, words.text


@figures
def test_words_can_be_read_on_a_phone(drawn: Drawn) -> None:
    sizes = [float(element.attrib["font-size"]) for element in drawn.root.iter(f"{SVG}text")]

    assert min(sizes) * PHONE / WIDTH > 9
    assert float(drawn.root.attrib["width"]) == WIDTH * SCALE
    assert float(drawn.root.attrib["height"]) < 850  # a screen


@pytest.mark.parametrize("mode", MODES)
def test_words_and_outlines_stand_out_in_both_modes(mode: str) -> None:
    kinds = MODES[mode]
    page, line = kinds["page"][0], kinds["plain"][1]

    assert {kind: c for kind, (f, _, w) in kinds.items() if (c := contrast(f, w)) < LEAST} == {}
    outlines = {kind: outline for kind, (_, outline, _) in kinds.items() if kind != "page"}
    assert [kind for kind, outline in outlines.items() if contrast(outline, page) < 3] == []
    assert contrast(line, kinds["yours"][0]) > 3  # arrows cross it


@pytest.mark.parametrize("eyes", SEEN)
@pytest.mark.parametrize("mode", MODES)
def test_colors_side_by_side_are_told_apart_by_every_eye(mode: str, eyes: str) -> None:
    pairs = {pair for drawn in map(Drawn, FILES) for pair in neighbors(drawn)}

    def perceived(kind: str) -> list[float]:
        light = linear(MODES[mode][kind][0])
        amounts = [sum(a * b for a, b in zip(r, light, strict=True)) for r in SEEN[eyes]]
        return [max(0.0, amount) ** (1 / 2.2) for amount in amounts]

    for first, second in pairs:
        if first != second:
            apart = max(
                abs(a - b) for a, b in zip(perceived(first), perceived(second), strict=True)
            )
            assert apart > 0.15, (first, second)


def test_every_figure_has_the_same_style_for_both_modes() -> None:
    style = re.search("<style>.*</style>", Drawn(FILES[0]).text)

    assert style
    assert all(style[0] in Drawn(path).text for path in FILES)
    assert MODES["light"].keys() == MODES["dark"].keys() > {"page", "plain", "given", "yours"}
