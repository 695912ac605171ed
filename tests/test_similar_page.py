"""similar.html shows where two submissions are alike, omits common lines, and runs nothing."""

from dataclasses import replace
from pathlib import Path

from tensormark.classroom.entry import Entry
from tensormark.classroom.reports.evidence import (
    GAP,
    MOVED,
    OWN,
    RENAMED,
    SAME,
    Rarity,
    side_by_side,
)
from tensormark.classroom.reports.gradebook import SIMILAR, write_results
from tensormark.classroom.reports.similar import Group, Similar
from tensormark.classroom.reports.similar_page import page

import classes
import formats

STARTER = {"bert": "import torch\n\ndef f(x):\n    raise NotImplementedError\n"}
LEFT = (
    "import torch\n\ndef f(x):\n    kept = torch.sin(x)  \n    # so that it fits\n    return kept\n"
)
RIGHT = LEFT.replace("kept", "held").replace("  \n", "\n")


def kinds(
    left: str, right: str, submissions: int = 2, solutions: tuple[str, ...] = ()
) -> list[str]:
    sources = [
        {"bert": left},
        {"bert": right},
        *[{"bert": f"a{n}()"} for n in range(submissions - 2)],
    ]
    rarity = Rarity(sources, STARTER, [{"bert": text} for text in solutions])
    return [line.kind for line in side_by_side(left, right, rarity)]


def test_lines_are_alike_except_for_names_and_given_code_is_left_out() -> None:
    assert kinds(LEFT, LEFT) == [GAP, SAME, SAME, SAME]
    assert kinds(LEFT, RIGHT) == [GAP, RENAMED, SAME, RENAMED]


def test_lines_of_solutions_or_of_many_in_the_class_are_left_out() -> None:
    assert kinds(LEFT, RIGHT, solutions=("    made = torch.sin(y)",)) == [GAP, SAME, RENAMED]
    sources = [{"bert": LEFT}] * 12
    assert side_by_side(LEFT, LEFT, Rarity(sources, STARTER, [])) == []


def test_attributes_do_not_count_as_names() -> None:
    assert kinds(LEFT, RIGHT.replace("sin", "cos")) == [GAP, OWN, GAP, OWN, SAME, RENAMED]
    assert kinds("a = torch.x", "b = torch.y") == [OWN, OWN]


def test_a_called_function_counts_as_a_name_only_if_a_student_chose_it() -> None:
    assert kinds("a = layer(x, m)", "b = block(x, n)") == [RENAMED]
    assert kinds("def look(a):", "def seek (b):") == [RENAMED]
    assert kinds("a = len(b)", "b = sum(a)") == [OWN, OWN]
    assert kinds("a = f(b)", "b = torch(a)") == [OWN, OWN]
    imports = "from math import sqrt\n", "from math import floor\n"
    assert kinds(f"{imports[0]}a = sqrt(b)", f"{imports[1]}b = floor(a)")[1:] == [OWN, OWN]


def test_a_line_in_another_place_is_moved() -> None:
    assert sorted(kinds("one(1)\ntwo(2)", "two(2)\none(1)")) == sorted([MOVED, SAME, MOVED])


def test_holders_are_counted_whatever_names_they_use() -> None:
    rarity = Rarity([{"bert": LEFT}, {"bert": RIGHT}, {"bert": "x = 1"}], STARTER, [])

    assert {line.holders for line in side_by_side(LEFT, RIGHT, rarity) if line.left} == {2}


def entries(*texts: str) -> list[Entry]:
    blank = classes.a_class(len(texts))
    return [
        replace(entry, sources={"bert": text}) for entry, text in zip(blank, texts, strict=True)
    ]


EVIL = '<script>alert(1)</script> = "\x1b]0;"  # \u202e " onload="x'


def test_the_page_shows_lines_as_text() -> None:
    members = entries(LEFT + EVIL, LEFT + EVIL, "x = 2")
    hand_in = replace(members[0].hand_in, student="<b>Eve</b>")
    members[0] = replace(members[0], hand_in=hand_in)

    text = page(members, Similar((Group((0, 1), ("<f>",)),)), STARTER, [])

    tags = formats.Tags(text)
    assert "script" not in {tag[0] if isinstance(tag, tuple) else tag for tag in tags.tags}
    assert "&lt;script&gt;alert(1)" in text
    assert "<b>Eve" not in text
    assert not set("\x1b\u202e") & set(text)
    assert "script-src" not in text


def test_a_file_of_a_million_lines_is_bounded() -> None:
    long = "\n".join(f"a{n} = call{n}({'x' * 50})" for n in range(30_000))
    groups = tuple(Group((0, 1), ("f",)) for _ in range(70))

    text = page(entries(long, long), Similar(groups), STARTER, [])

    assert len(text) < 25e6
    assert "and 20 groups more" in text


def test_the_two_pages_agree_about_groups_and_without_any_there_is_one_page(tmp_path: Path) -> None:
    source = "".join(f"def f{n}(a):\n    b = a + {n}\n    return b * {n}\n\n" for n in range(9))
    write_results(entries(source, source, "x = 1"), tmp_path, starter=STARTER)
    before = (tmp_path / SIMILAR).read_text("utf-8")
    overview = (tmp_path / "gradebook.html").read_text("utf-8")
    assert "return b * 8" in before
    assert 'id="group-1"' in before
    assert 'href="similar.html#group-1"' in overview

    lines = write_results(entries(source, "y = 2", "x = 1"), tmp_path, starter=STARTER)

    assert "near-identical submissions: none among 3" in lines
    overview = (tmp_path / "gradebook.html").read_text("utf-8")
    assert '>none</span><span class="what">among 3 submissions<' in overview
    assert not (tmp_path / SIMILAR).exists()
