"""Predictions for a leaderboard: their form, what is packed, and how a class stands."""

import dataclasses
import re
import shutil
from unittest import mock

import pytest

from tensormark.classroom import grade_class
from tensormark.classroom.leaderboard import PAGE, TABLE, Standings
from tensormark.folder import open_assignment
from tensormark.gradescope import autograder
from tensormark.predictions import FOLDER, NAME_FILE, Leaderboard, Split
from tensormark.result import Grade
from tensormark.submit import predicted
from tensormark.usage import UserError
from testkit import formats, toy
from testkit.classes import graded_class, options_in, rows_in

TEST = Split("test.txt", "test-out.txt", ("0", "1", "2"))
DEV = Split("dev.txt", "dev-out.txt", TEST.labels)
DATA = "".join(f"1 ||| film {n} .\n" for n in range(20))
CARD = """<!-- grades:begin -->
| model | dev | test |
| --- | --- | --- |
| bag of words | 0.6 | 0.620 |
<!-- grades:end -->
"""
FORM = "must be `example ||| label`, each example of test.txt once, its label one of 0, 1, 2"
BAD = {  # what is said about a file of predictions, and the file
    ": predict every example of test.txt; missing: 19, such as 'film 1 .'": "film 0 . ||| 1\n",
    ":2: 'film 0 .' is there twice": "film 0 . ||| 1\nfilm 0 . ||| 1",
    f":1: 'a film ||| 1' {FORM}": "a film ||| 1",
    f":1: 'film 0 . ||| 1.0' {FORM}": "film 0 . ||| 1.0",
    f":2: 'film 1 . ||| nan' {FORM}": "film 0 . ||| 1\rfilm 1 . ||| nan",
    f":1: '1 ||| film 0 .' {FORM}": "1 ||| film 0 .",
    f":1: 'id,label' {FORM}": "id,label\r\nfilm 0 . ||| 1",
    ":1: '?[2J?'": "\x1b[2J\u202e",
    ":1: not UTF-8 text; save the file as UTF-8": "\udc80\x04\udc95",
    " is empty": "",
    " is larger than 256 KiB": "0" * (1 << 20),
}


def predictions(wrong=0):
    """Return predictions of which the first are wrong."""
    return "".join(f"film {n} . ||| {int(n >= wrong)}\n" for n in range(20))


def written(folder, files):
    """Write files by their names, and a submission beside them; return the folder.

    Half of a surrogate pair stands for a byte that is not UTF-8.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (files | {toy.MAIN: "x = 1\n"}).items():
        (folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    return folder


def competing(folder):
    """Return the assignment in a folder with a leaderboard, whose files are added to it."""
    written(folder, {TEST.data: DATA, DEV.data: DATA, "card.md": CARD})
    board = Leaderboard(TEST, DEV, "card.md", "grades")
    return dataclasses.replace(open_assignment(folder), leaderboard=board)


@pytest.fixture
def competed(copy):
    return competing(copy)


@pytest.mark.parametrize("says", BAD)
def test_bad_predictions_are_not_packed_and_one_line_says_why(says, competed, tmp_path):
    written(tmp_path / FOLDER, {TEST.file: BAD[says]})

    packed, said = predicted(competed, tmp_path, "Ada")

    assert packed == {}
    assert said.startswith(f"not packed: {TEST.file}{says}")
    assert said.isprintable()


def test_good_predictions_are_packed_with_a_clean_name_and_scored_on_dev(competed, tmp_path):
    text = "\r\n".join(reversed(predictions().splitlines()))
    none = predicted(competed, tmp_path, "Ada")
    written(tmp_path / FOLDER, {TEST.file: text})
    alone = predicted(competed, tmp_path, "")
    written(tmp_path / FOLDER, {DEV.file: predictions(2).replace("\n", "\r")})

    packed, said = predicted(competed, tmp_path / toy.MAIN, f" Ada\u202e \n{'x' * 99}")

    assert none == ({}, "not packed: the name, as there is no predictions/test-out.txt")
    assert alone == ({TEST.file: text.encode()}, "")
    assert packed == {TEST.file: text.encode(), NAME_FILE: b"Ada " + b"x" * 36}
    assert said == "dev-out.txt: accuracy 0.900"


@pytest.fixture(scope="module")
def ranked(folder, tmp_path_factory):
    """A folder with a class's submissions in `in` and results in `out`, and what was printed."""
    place = tmp_path_factory.mktemp("class")
    assignment = competing(shutil.copytree(folder, place / "assignment"))
    last_wrong = predictions().replace("19 . ||| 1", "19 . ||| 0")
    handed_in = {
        "ada": {TEST.file: last_wrong, NAME_FILE: "=<b>Ada\n"},
        "alan": {TEST.file: predictions(10)},
        "emmy": {TEST.file: predictions(10)},
        "grace": {TEST.file: predictions(11)},
        "joan": {TEST.file: ""},
        "zoe": {},
    }
    for student, files in handed_in.items():
        written(place / "in" / student, files)
    options_in(place / "out", tier="process", leaderboard_bonus=[[0.5, 2], [0.9, 5]])
    with mock.patch.object(grade_class, "open_assignment", return_value=assignment):
        status, printed = graded_class(assignment.folder, place / "in", place / "out")
    assert status == 0, printed
    return place, printed


# intervals are scipy's; if 10 of 11 differences are in one direction, p = 0.0117; if 11 of 12 are,
# p = 0.0063, which is less than 0.05 divided by 6 pairs
STANDINGS = """rank,name,accuracy,low,high,group,student,note
1,'=<b>Ada,0.95,0.7639,0.9911,1,ada,
,bag of words,0.62,,,,,baseline
2,anonymous,0.5,0.2993,0.7007,1,...,
2,anonymous,0.5,0.2993,0.7007,1,...,
4,anonymous,0.45,0.2582,0.6579,2,grace,
,,,,,,joan,test-out.txt is empty
"""


def test_a_class_is_ranked_in_groups_of_those_who_cannot_be_told_apart(ranked):
    place, printed = ranked

    table = (place / "out" / TABLE).read_text("utf-8").replace('"', "")
    # two are equal, in an order that their made-up names decide
    assert re.sub("anonymous .{6}", "anonymous", re.sub("emmy|alan", "...", table)) == STANDINGS
    assert "4 submissions in leaderboard.html; why 1 more cannot be scored: leader" in printed


def test_the_page_shows_chosen_names_as_text_and_no_ids(ranked):
    page = (ranked[0] / "out" / PAGE).read_text("utf-8")

    assert "=&lt;b&gt;Ada" in page
    assert not re.search("emmy|grace|joan", page)


def test_accuracy_gives_points_and_a_report_has_the_rank(ranked):
    out = ranked[0] / "out"

    points = {name: row["points"] for name, row in rows_in(out / "gradebook.csv").items()}
    report = (out / "feedback/grace/report.html").read_text("utf-8")
    others = {"grace": "0", "joan": "0", "zoe": "0"}
    assert points == {"ada": "5", "alan": "2", "emmy": "2", **others}
    assert "leaderboard: rank 4 of 4, as anon" in report


def test_a_leaderboard_that_is_turned_off_is_removed(ranked, folder, tmp_path):
    place = shutil.copytree(ranked[0], tmp_path / "class")
    options_in(place / "out", tier="process")

    graded_class(folder, place / "in", place / "out")

    assert not list((place / "out").glob("leaderboard*"))


def test_gradescope_gets_the_accuracy_and_students_what_is_wrong(competed, tmp_path):
    results = []
    for text in (predictions(2), "film"):
        writer = autograder.ResultsWriter(tmp_path / "results.json")
        writer.score(competed, written(tmp_path / "in", {TEST.file: text}))
        writer.end(Grade("", "process", []))
        results.append(formats.check_gradescope(writer.path.read_text("utf-8")))

    assert results[0]["leaderboard"] == [{"name": "accuracy", "value": 0.9}]
    assert "leaderboard" not in results[1]
    assert "not on the leaderboard: test-out.txt:1: 'film' must" in results[1]["output"]


@pytest.mark.parametrize("text", ["film 0 .\n", "3 ||| film 0 .\n", DATA * 2])
def test_without_one_label_for_each_example_there_is_no_leaderboard(text, competed, copy):
    written(copy, {TEST.data: text})

    with pytest.raises(UserError, match=r"test\.txt: (each line must|has an example twice)"):
        Standings(competed, [])
