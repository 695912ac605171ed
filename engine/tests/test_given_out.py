"""What students get of an assignment, what it declares, and what must not be in a release."""

import dataclasses

import pytest

from tensormark.authoring.course import open_course
from tensormark.cli import run
from tensormark.folder import open_assignment
from tensormark.release.given_out import Release
from tensormark.release.leaks import leaks
from tensormark.release.students_zip import contents
from tensormark.usage import UserError
from tensormark.wheel import wheel
from testkit import toy
from testkit.graded import in_manifest
from testkit.packing import unpacked

STAFF = """
from tensormark.authoring.course import Staff
from tensormark.release.given_out import Release

STAFF = Staff(release=Release(
    copied=("notes/*.csv",),
    students="for_students",
    edited={"card.md": lambda name, text: text.replace("ours", "yours")},
))
"""


def course_in(folder, release=None):
    course = open_course(open_assignment(folder))
    if release is None:
        return course
    return dataclasses.replace(course, staff=dataclasses.replace(course.staff, release=release))


def test_a_release_has_what_students_need_and_no_files_for_staff_only(folder):
    files = contents(course_in(folder))

    expected = "README.md handout.md handout.html requirements.txt engine grader starter"
    top_level = {name.partition("/")[0] for name in files}
    assert top_level == {*expected.split(), "reference_outputs"}
    assert {"grader/assignment.py", "grader/exercises/conv.py", "grader/task.py"} <= files.keys()
    assert not [name for name in files if "mistakes" in name or "honest" in name]
    assert b'NotImplementedError("conv")' in files[f"starter/{toy.MAIN}"]
    assert files[f"engine/{wheel().name}"] == wheel().content
    assert wheel().name.encode() in files["README.md"]


def test_declared_files_are_given_out(copy):
    declared = {"notes/a.csv": b"1,2\n", "notes/a.txt": b"not declared\n", "card.md": b"ours\n"}
    students = {"for_students/README.md": b"# Welcome\n", "for_students/deep/.hidden": b"here\n"}
    unpacked(copy, {"grader/staff.py": STAFF.encode(), **declared, **students})

    files = contents(course_in(copy))

    assert "notes/a.txt" not in files
    assert files["notes/a.csv"] == b"1,2\n"
    assert files["card.md"] == b"yours\n"
    assert files["README.md"] == b"# Welcome\n"
    assert files["deep/.hidden"] == b"here\n"
    assert list(leaks(course_in(copy), files)) == []


def test_what_only_staff_need_is_given_out_only_if_it_is_named(copy, capsys):
    staff = b"from grader import words\nfrom tensormark.authoring.course import Staff\n\n"
    staff += b"STAFF = Staff()\n"
    files = {
        "staff.py": staff,
        "words.py": b"from grader import more\n",
        "more.py": b"WORDS = ()\n",
    }
    unpacked(copy / "grader", {**files, "hidden/source.txt": b"a private text\n"})

    course = course_in(copy)
    named = contents(course_in(copy, Release(copied=("grader/hidden/*.txt",))))

    private = ["grader/words.py", "grader/more.py", "grader/hidden/source.txt"]
    assert contents(course).keys().isdisjoint(private)
    assert "grader/hidden/source.txt" in named
    assert run(copy, "release", []) == 0
    assert (
        "for staff only: grader/hidden/source.txt, grader/more.py, grader/words.py;"
        in capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("old", "new", "private", "message"),
    [
        ("(conv): ", "(con): ", False, "there is no heading"),
        ("(40 points", "(47 points", False, "says 47 points; it has 40"),
        ("# ", "![a line](pictures/none.svg)\n# ", False, "which is not a file in"),
        ("# ", "![a line](../../../etc/passwd)\n# ", False, "which is not a file in"),
        ("", "", True, "has private inputs; run `tensormark references`"),
    ],
)
def test_what_disagrees_is_missing_or_private_is_not_given_out(copy, old, new, private, message):
    path = copy / "handout.md"
    path.write_text(path.read_text("utf-8").replace(old, new, 1), "utf-8")
    in_manifest(copy / "reference_outputs", private=private)

    with pytest.raises(UserError, match=message):
        contents(course_in(copy))


def test_pictures_of_the_handout_are_given_out(copy):
    with (copy / "handout.md").open("a", encoding="utf-8") as file:
        file.write("\n![a line](pictures/line.svg)\n")
    line = b"<svg xmlns='http://www.w3.org/2000/svg'/>"
    unpacked(copy / "pictures", {"line.svg": line, "other.svg": b"<svg/>"})

    pictures = {name for name in contents(course_in(copy)) if name.startswith("pictures/")}

    assert pictures == {"pictures/line.svg"}
