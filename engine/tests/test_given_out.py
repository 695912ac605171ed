"""What students get of an assignment, what it declares, and what must not be in a release."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from tensormark.authoring.course import Course, open_course
from tensormark.cli import run
from tensormark.folder import open_assignment
from tensormark.release.contents import contents
from tensormark.release.given_out import Release, Secret
from tensormark.release.leaks import leaks
from tensormark.release.secrets import Secrets
from tensormark.usage import UserError
from tensormark.wheel import wheel

import toy
from graded import in_manifest
from packing import unpacked
from resident import called

LABELS = [int(digit) for digit in f"{20260807**8:b}"[:60]]
STAFF = """
from tensormark.authoring.course import Staff
from tensormark.release.given_out import Release

STAFF = Staff(release=Release(
    copied=("notes/*.csv",),
    students="for_students",
    edited={"card.md": lambda name, text: text.replace("ours", "yours")},
))
"""


def course_in(folder: Path, release: Release | None = None) -> Course:
    course = open_course(open_assignment(folder))
    if release is None:
        return course
    return dataclasses.replace(course, staff=dataclasses.replace(course.staff, release=release))


def test_a_release_has_what_students_need_and_no_files_for_staff_only(folder: Path) -> None:
    files = contents(course_in(folder))

    expected = "README.md handout.md handout.html requirements.txt engine grader starter"
    top_level = {name.partition("/")[0] for name in files}
    assert top_level == {*expected.split(), "reference_outputs"}
    assert {"grader/assignment.py", "grader/exercises/conv.py", "grader/task.py"} <= files.keys()
    assert not [name for name in files if "mistakes" in name or "honest" in name]
    assert b'NotImplementedError("conv")' in files[f"starter/{toy.MAIN}"]
    assert files[f"engine/{wheel().name}"] == wheel().content
    assert wheel().name.encode() in files["README.md"]


def test_declared_files_are_given_out(copy: Path) -> None:
    declared = {"notes/a.csv": b"1,2\n", "notes/a.txt": b"not declared\n", "card.md": b"ours\n"}
    students = {"for_students/README.md": b"# Welcome\n", "for_students/deep/.hidden": b"here\n"}
    unpacked(copy, {"grader/staff.py": STAFF.encode(), **declared, **students})

    files = contents(course_in(copy))

    assert "notes/a.txt" not in files
    assert files["notes/a.csv"] == b"1,2\n"
    assert files["card.md"] == b"yours\n"
    assert files["README.md"] == b"# Welcome\n"
    assert files["deep/.hidden"] == b"here\n"
    assert leaks(Secrets(course_in(copy)), files) == []


def test_what_only_staff_need_is_given_out_only_if_it_is_named(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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

    assert not {"grader/words.py", "grader/more.py", "grader/hidden/source.txt"} & {
        *contents(course)
    }
    assert "grader/hidden/source.txt" in named
    assert run(copy, "release", []) == 0
    assert (
        "for staff only: grader/hidden/source.txt, grader/more.py, grader/words.py;"
        in capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(conv): ", "(con): ", "there is no heading"),
        ("(40 points", "(47 points", "says 47 points; it has 40"),
    ],
)
def test_a_handout_that_disagrees_with_the_assignment_is_not_given_out(
    copy: Path, old: str, new: str, message: str
) -> None:
    path = copy / "handout.md"
    path.write_text(path.read_text("utf-8").replace(old, new, 1), encoding="utf-8")

    with pytest.raises(UserError, match=message):
        contents(course_in(copy))


def test_pictures_of_the_handout_are_given_out(copy: Path) -> None:
    with (copy / "handout.md").open("a", encoding="utf-8") as file:
        file.write("\n![a line](pictures/line.svg)\n")
    line = b"<svg xmlns='http://www.w3.org/2000/svg'/>"
    unpacked(copy / "pictures", {"line.svg": line, "other.svg": b"<svg/>"})

    pictures = {name for name in contents(course_in(copy)) if name.startswith("pictures/")}

    assert pictures == {"pictures/line.svg"}


@pytest.mark.parametrize("picture", ["pictures/none.svg", "../../../etc/passwd"])
def test_a_picture_that_is_not_in_the_folder_is_an_error(copy: Path, picture: str) -> None:
    with (copy / "handout.md").open("a", encoding="utf-8") as file:
        file.write(f"\n![a line]({picture})\n")

    with pytest.raises(UserError, match="which is not a file in"):
        contents(course_in(copy))


def test_references_with_private_inputs_are_not_given_out(copy: Path) -> None:
    in_manifest(copy / "reference_outputs", private=True)

    with pytest.raises(UserError, match="has private inputs; run `tensormark references`"):
        contents(course_in(copy))


def secrets_of(copy: Path) -> Secrets:
    """Return what students must not get of an assignment that has secrets of every kind."""
    solution = copy / "solution" / toy.MAIN
    text = solution.read_text(encoding="utf-8")
    changed = text.replace(toy.WINDOWS, f"my_own_{toy.WINDOWS}").replace(
        '"bdwk', "my_own_windows, '"
    )
    solution.write_text(changed, encoding="utf-8")
    answer = b"The answer to the second question is forty-two.\n"
    unpacked(copy, {"answers/notes.md": answer})
    secret = Secret(
        "the labelled letters",
        ["a text that nobody has read yet", "another text of a line"],
        LABELS,
        {"letters.txt": ["another text of a line"]},
    )
    release = Release(staff=("answers/*.md",), secrets=lambda assignment, private: [secret])
    course = course_in(copy, release)
    return Secrets(dataclasses.replace(course, variants=(), honest=()))


@pytest.mark.parametrize(
    ("name", "content", "description"),
    [
        ("starter/a.py", "x = my_own_windows = signals.unfold(-1, ", None),
        ("starter/a.py", f"    my_own_{toy.WINDOWS}", "holds a region of solution/detector.py"),
        ("grader/a.json", json.dumps([f"my_own_{toy.WINDOWS}"]), "holds a region of solution"),
        ("a.md", "The answer to the second question is forty-two.", "holds an instructor's line"),
        ("a.md", "we say: a text that nobody has read yet", "holds the labelled letters: "),
        ("a.json", json.dumps(LABELS), "holds labels of the labelled letters"),
        ("a.md", "another text of a line", "holds the labelled letters: "),
        ("letters.txt", "another text of a line\n", None),
        ("letters.txt", "1 another text of a line\n", "is not the bare labelled letters"),
        ("answers/b.md", "", "is for staff only: answers/"),
        ("grader/mistakes/b.py", "", "is for staff only: grader/mistakes"),
        ("grader/honest/b.py", "", "is for staff only: grader/honest"),
        ("grader/staff.py", "", "is for staff only: grader/staff.py"),
        ("reference_outputs/private/a/dev.txt", "", "is for staff only: private/"),
        ("grader/b.pyc", "", "is a kind of file that is not given out"),
        ("reference_outputs/manifest.json", "{}", "belongs to private references"),
    ],
)
def test_a_file_that_students_must_not_get_is_found(
    copy: Path, name: str, content: str, description: str | None
) -> None:
    findings = leaks(secrets_of(copy), {name: content.encode()})

    if description is None:
        assert findings == []
    else:
        assert [
            leak for leak in findings if leak.path == name and leak.what.startswith(description)
        ]


def test_tensors_outside_the_public_references_are_found_unless_they_are_declared(
    copy: Path,
) -> None:
    tensors = save({"x": np.zeros(3)})
    (copy / "more.safetensors").write_bytes(tensors)
    course = course_in(copy, Release(copied=("*.safetensors",)))

    findings = leaks(Secrets(course), {"more.safetensors": tensors, "b.safetensors": tensors})

    assert [str(leak) for leak in findings] == [
        "b.safetensors: is not one of the public references"
    ]


def test_the_command_leaks_says_what_it_found(folder: Path, tmp_path: Path) -> None:
    unpacked(tmp_path, {"given/solution/a.py": b"x = 1\n"})

    completed = called(tmp_path, "-C", str(folder), "leaks", str(tmp_path / "given"))

    assert (completed.returncode, completed.stdout) == (
        1,
        "solution/a.py: is for staff only: solution/\n",
    )
