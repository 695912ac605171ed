"""Predictions for a leaderboard: their form, what is packed, and how a class stands."""

import dataclasses
import re

import pytest

from tensormark.classroom import grade_class
from tensormark.classroom.leaderboard import PAGE, TABLE, Standings
from tensormark.folder import open_assignment
from tensormark.gradescope import autograder
from tensormark.predictions import NAME_FILE, Leaderboard, Split
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
# predictions, and what is said about them; \udc80 stands for a byte
BAD = r"""
film 0 . ||| 1\n -> : predict every example of test.txt; missing: 19, such as 'film 1 .'
film 0 . ||| 1\nfilm 0 . ||| 1 -> :2: 'film 0 .' is there twice
a film ||| 1 -> :1: 'a film ||| 1' FORM
film 0 . ||| 1.0 -> :1: 'film 0 . ||| 1.0' FORM
film 0 . ||| 1\rfilm 1 . ||| nan -> :2: 'film 1 . ||| nan' FORM
1 ||| film 0 . -> :1: '1 ||| film 0 .' FORM
id,label\r\nfilm 0 . ||| 1 -> :1: 'id,label' FORM
\x1b[2J\u202e -> :1: '?[2J?' FORM
\udc80\x04\udc95 -> :1: not UTF-8 text; save the file as UTF-8
 ->  is empty
huge ->  is larger than 256 KiB
"""


def predictions(wrong=0):
    """Return predictions of which the first are wrong."""
    return "".join(f"film {n} . ||| {int(n >= wrong)}\n" for n in range(20))


def written(folder, **texts):
    """Write texts in files whose names end in -out.txt, and what is submitted with them."""
    for name, text in {**texts, toy.MAIN: "x = 1\n"}.items():
        path = folder / (name if "." in name else f"{name}-out.txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return folder


@pytest.fixture
def competed(copy):
    """The assignment with a leaderboard."""
    written(copy, **{"test.txt": DATA, "dev.txt": DATA, "card.md": CARD})
    board = Leaderboard(TEST, DEV, "card.md", "grades")
    return dataclasses.replace(open_assignment(copy), leaderboard=board)


@pytest.mark.parametrize("case", BAD.strip("\n").splitlines())
def test_bad_predictions_are_not_packed_and_one_line_says_why(case, competed, tmp_path):
    text, words = case.encode().decode("unicode_escape").split(" -> ")
    written(tmp_path / "predictions", test=text.replace("huge", "0" * (1 << 20)))

    packed, said = predicted(competed, tmp_path, "Ada")

    assert packed == {}
    assert said.startswith(f"not packed: {TEST.file}{words.replace('FORM', FORM)}")
    assert said.isprintable()


def test_good_predictions_are_packed_with_a_clean_name_and_scored_on_dev(competed, tmp_path):
    text = "\r\n".join(reversed(predictions().splitlines()))
    none = predicted(competed, tmp_path, "Ada")
    written(tmp_path / "predictions", test=text)
    alone = predicted(competed, tmp_path, "")
    written(tmp_path / "predictions", dev=predictions(2).replace("\n", "\r"))

    packed, said = predicted(competed, tmp_path / toy.MAIN, f" Ada\u202e \n{'x' * 99}")

    assert none == ({}, "not packed: the name, as there is no predictions/test-out.txt")
    assert alone == ({TEST.file: text.encode()}, "")
    assert packed == {TEST.file: text.encode(), NAME_FILE: b"Ada " + b"x" * 36}
    assert said == "dev-out.txt: accuracy 0.900"


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


def test_a_class_is_ranked_in_groups_of_those_who_cannot_be_told_apart(
    competed, copy, tmp_path, monkeypatch
):
    wrong = {"emmy": 10, "grace": 11, "alan": 10, "ada": 0}
    texts = {student: {"test": predictions(count)} for student, count in wrong.items()}
    texts |= {"joan": {"test": ""}, "zoe": {}}
    one_wrong = predictions().replace("19 . ||| 1", "19 . ||| 0")
    texts["ada"] = {"test": one_wrong, NAME_FILE: "=<b>Ada\n"}
    for student, own in texts.items():
        written(tmp_path / "in" / student, **own)
    out = tmp_path / "out"
    options_in(out, tier="process", leaderboard_bonus=[[0.5, 2], [0.9, 5]])
    monkeypatch.setattr(grade_class, "open_assignment", lambda _: competed)

    _, printed = graded_class(copy, tmp_path / "in", out)

    table = (out / TABLE).read_text("utf-8").replace('"', "")
    assert re.sub("anonymous .{6}", "anonymous", re.sub("emmy|alan", "...", table)) == STANDINGS
    page = (out / PAGE).read_text("utf-8")
    assert "=&lt;b&gt;Ada" in page
    assert not re.search("emmy|grace|joan", page)
    assert "4 submissions in leaderboard.html; why 1 more cannot be scored: leader" in printed
    gradebook = rows_in(out / "gradebook.csv").values()
    assert [row["points"] for row in gradebook] == "5 2 2 0 0 0".split()
    assert "leaderboard: rank 4 of 4, as anon" in (out / "feedback/grace/report.html").read_text()
    options_in(out, tier="process")
    graded_class(copy, tmp_path / "in", out)
    assert not list(out.glob("leaderboard*"))


def test_gradescope_gets_the_accuracy_and_students_what_is_wrong(competed, tmp_path):
    results = []
    for text in (predictions(2), "film"):
        writer = autograder.ResultsWriter(tmp_path / "results.json")
        writer.score(competed, written(tmp_path / "in", test=text))
        writer.end(Grade("", "process", []))
        results.append(formats.check_gradescope(writer.path.read_text("utf-8")))

    assert results[0]["leaderboard"] == [{"name": "accuracy", "value": 0.9}]
    assert "leaderboard" not in results[1]
    assert "not on the leaderboard: test-out.txt:1: 'film' must" in results[1]["output"]


@pytest.mark.parametrize("text", ["film 0 .\n", "3 ||| film 0 .\n", DATA * 2])
def test_without_one_label_for_each_example_there_is_no_leaderboard(text, competed, copy):
    written(copy, **{TEST.data: text})

    with pytest.raises(UserError, match=r"test\.txt: (each line must|has a line twice)"):
        Standings(competed, [])
