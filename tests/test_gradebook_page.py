"""The page of a class says each thing once, by its own name, and can be searched."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from test_gradebook import entry

from tensormark.classroom.entry import Entry, HandIn
from tensormark.classroom.reports.page import SCRIPT, page
from tensormark.classroom.reports.similar import Group, Similar
from tensormark.classroom.summary import flags_of, kind_of, mistakes_of

import sample


def with_mistake(mistake: str, headline: str) -> Entry:
    result = sample.complete()
    result["exercises"][0]["findings"][0] |= {"mistake": mistake, "headline": headline}
    return entry(result)


def test_each_mistake_counts_even_where_several_were_made() -> None:
    entries = [
        with_mistake("a", "no a"),
        with_mistake("a+b", "no a, and no b"),
        with_mistake("a+b|a+c", "either no a, and no b or no a, and no c"),
        with_mistake("d|e", "either no d or no e"),
    ]
    descriptions = {("attention", "b"): "no b at all"}

    mistakes = {
        mistake.id: (mistake.text, mistake.places) for mistake in mistakes_of(entries, descriptions)
    }

    assert mistakes == {
        "a": ("no a", (0, 1, 2)),
        "b": ("no b at all", (1,)),
        "d|e": ("either no d or no e", (3,)),
    }


def test_a_flag_is_listed_once() -> None:
    result = sample.complete() | {"flags": ["sentiment: its own predictions counted"]}
    result["exercises"][5]["flags"] = ["sentiment: its own predictions counted"]

    assert flags_of(entry(result)) == ["sentiment: its own predictions counted"]


def test_students_whose_file_cannot_be_imported_are_listed() -> None:
    result = sample.complete()
    for exercise in result["exercises"][:2]:
        exercise["findings"] = [
            {
                "headline": "bert.py cannot be imported",
                "details": [],
                "mistake": None,
                "excerpt": None,
            }
        ]

    text = page([entry(result), entry(student="grace")], ["", ""], Similar())

    (part,) = re.findall(r'<section id="imports".*?</section>', text, flags=re.S)
    assert "bert.py</span>" in part
    assert ">ada<" in part
    assert ">grace<" not in part
    assert len(re.findall("bert.py cannot be imported[^<]*</td>", text)) == 1


def test_the_columns_that_people_look_for_first_come_before_the_exercises() -> None:
    late = entry(sample.complete())
    late = replace(late, hand_in=replace(late.hand_in, minutes_late=7), seconds=9)

    text = page([late], [""], Similar())

    heads = re.findall(r'<button type="button">([^<]*)</button></th>', text)
    assert heads[:5] == ["student", "score", "min. late", "notes", "bonus"]
    assert heads[-1] == "seconds"
    (row,) = re.findall(r"<tbody role=.*?</tbody>", text, flags=re.S)
    cells = re.findall(r'<td role="cell" class="(\w+)"(?: data-value="([^"]*)")?>', row)
    assert [cells[1], cells[2][0], cells[-1]] == [("number", "7"), "notes", ("number", "9")]
    assert len(cells) == len(heads) - 1


def test_every_reason_for_no_grade_has_its_own_name() -> None:
    late, path = HandIn("ada", "Ada", None, fault="a.pdf is not a program"), Path("in/ada.zip")
    entries = [
        Entry(late, problem="a.pdf is not a program", attempts=0),
        Entry(HandIn("bob", "Bob", path), problem="an empty file", attempts=0),
        Entry(HandIn("cy", "Cy", path), problem="its worker was lost", attempts=3),
        Entry(HandIn("dee", "Dee", None), attempts=0),
        Entry(HandIn("eve", "Eve", path), problem="not graded yet", attempts=0),
        entry(sample.model()),
    ]

    assert list(map(kind_of, entries)) == [
        "could not be read", "could not be read", "could not be graded", "not handed in",
        "not graded yet", "graded in part",
    ]  # fmt: skip
    text = page(entries, [""] * len(entries), Similar())
    (part,) = re.findall(r'<section id="problems".*?</section>', text, flags=re.S)
    counts = re.findall(r'class="count">([^<]*)<', part)
    assert counts == [
        "1 student", "graded in part", "could not be graded", "could not be read",
        "could not be read",
    ]  # fmt: skip


@pytest.mark.parametrize("private", [True, False])
def test_the_page_says_whether_everybody_has_the_inputs(private: bool) -> None:
    text = page([entry(sample.complete() | {"private": private})], [""], Similar())

    assert ("Graded on the public inputs, which every student has" in text) == (not private)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_search_finds_names_without_their_accents() -> None:
    script = SCRIPT.read_text("utf-8")
    (folded,) = re.findall(r"  const plain = .*?\n  const folded = .*?;\n", script, flags=re.S)
    names = ["Zoë", "Ångström", "Łukasz", "Nguyễn", "STRAßE", "Ørsted", "김"]
    code = f"{folded}console.log(JSON.stringify({json.dumps(names)}.map(folded)))"

    completed = subprocess.run(["node", "-e", code], capture_output=True, check=True)

    folded_names = json.loads(completed.stdout)
    assert folded_names[:-1] == ["zoe", "angstrom", "lukasz", "nguyen", "strasse", "orsted"]


def test_changes_and_groups_are_listed() -> None:
    before = sample.complete()
    after = sample.complete()
    after["exercises"][0] |= {"outcome": "passed", "score": 25}
    entries = [entry(after, previous=before), entry(after, student="grace"), entry(student="eve")]
    equal = Group((0, 2), ("optimizer.py",), equal="equal byte for byte")
    similar = Similar((equal, Group((0, 1), ("BertLayer.forward",), 0.9)), (2,))

    text = page(entries, ["feedback/ada", "feedback/grace", ""], similar)

    assert "attention failed → passed" in text
    assert "90% the same, in BertLayer.forward" in text
    assert "equal byte for byte: optimizer.py" in text
    assert re.search(r"not compared in full</span>.{0,80}>eve</", text)
    assert text.count("near-identical to others</td>") == 3
    assert 'href="feedback/ada/report.html"' in text
