"""What students get of any assignment, what it declares, and what must not be in a release."""

import dataclasses
import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from tensormark.authoring.course import Course, open_course
from tensormark.folder import open_assignment
from tensormark.release.contents import contents
from tensormark.release.given_out import Release, ReleaseError, Secret
from tensormark.release.leaks import leaks
from tensormark.release.secrets import Secrets
from tensormark.wheel import wheel

import toy
from graded import grader_of, in_manifest
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


@pytest.fixture
def mine(folder: Path, tmp_path: Path) -> Path:
    """A copy of the assignment's folder, to change."""
    return Path(shutil.copytree(folder, tmp_path / "mine"))


def opened(folder: Path, release: Release | None = None) -> Course:
    course = open_course(open_assignment(folder))
    if release is None:
        return course
    return dataclasses.replace(course, staff=dataclasses.replace(course.staff, release=release))


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def names(files: dict[str, bytes]) -> set[str]:
    return {name.partition("/")[0] for name in files}


def test_a_release_has_what_is_needed_and_nothing_of_staff(folder: Path) -> None:
    files = contents(opened(folder))

    everything = "README.md handout.md handout.html requirements.txt engine grader starter"
    assert names(files) == {*everything.split(), "reference_outputs"}
    assert {"grader/assignment.py", "grader/exercises/conv.py", "grader/task.py"} <= files.keys()
    assert not [name for name in files if "mistakes" in name or "honest" in name]
    assert b'NotImplementedError("conv")' in files[f"starter/{toy.MAIN}"]
    assert files[f"engine/{wheel().name}"] == wheel().content


def test_a_release_can_be_graded_as_its_readme_says(folder: Path, tmp_path: Path) -> None:
    done = called(tmp_path, "-C", str(folder), "release", "--out", str(tmp_path / "a.zip"))
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        archive.extractall(tmp_path)
    grade = grader_of(tmp_path / "detector", tmp_path)

    assert done.returncode == 0
    assert wheel().name in (tmp_path / "detector" / "README.md").read_text(encoding="utf-8")
    assert {*grade("starter").outcomes().values()} == {"not written yet"}
    assert grade(folder / "solution", training=True).result["score"] == 100


def test_what_is_declared_is_given_out(mine: Path) -> None:
    write(mine / "grader/staff.py", STAFF)
    write(mine / "notes/a.csv", "1,2\n")
    write(mine / "notes/a.txt", "not declared\n")
    write(mine / "card.md", "ours\n")
    write(mine / "for_students/README.md", "# Welcome\n")
    write(mine / "for_students/deep/.hidden", "here\n")

    files = contents(opened(mine))

    assert "notes/a.txt" not in files
    assert files["notes/a.csv"] == b"1,2\n"
    assert files["card.md"] == b"yours\n"
    assert files["README.md"] == b"# Welcome\n"
    assert files["deep/.hidden"] == b"here\n"
    assert leaks(Secrets(opened(mine)), files) == []


def test_pictures_of_the_handout_are_given_out(mine: Path) -> None:
    with (mine / "handout.md").open("a", encoding="utf-8") as file:
        file.write("\n![a line](pictures/line.svg)\n")
    write(mine / "pictures/line.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>")
    write(mine / "pictures/other.svg", "<svg/>")

    given = {name for name in contents(opened(mine)) if name.startswith("pictures/")}

    assert given == {"pictures/line.svg"}


@pytest.mark.parametrize("picture", ["pictures/none.svg", "../../../etc/passwd"])
def test_a_picture_that_is_not_in_the_folder_is_an_error(mine: Path, picture: str) -> None:
    with (mine / "handout.md").open("a", encoding="utf-8") as file:
        file.write(f"\n![a line]({picture})\n")

    with pytest.raises(ReleaseError, match="which is not a file in"):
        contents(opened(mine))


def test_references_with_private_inputs_are_not_given_out(mine: Path) -> None:
    in_manifest(mine / "reference_outputs", private=True)

    with pytest.raises(ReleaseError, match="has private inputs; run `tensormark references`"):
        contents(opened(mine))


def secrets_of(mine: Path) -> Secrets:
    """Return what students must not get of an assignment that has all kinds of it."""
    solution = mine / "solution" / toy.MAIN
    text = solution.read_text(encoding="utf-8")
    own = text.replace(toy.WINDOWS, f"my_own_{toy.WINDOWS}").replace('"bdwk', "my_own_windows, '")
    solution.write_text(own, encoding="utf-8")
    write(mine / "answers/notes.md", "The answer to the second question is forty-two.\n")
    secret = Secret(
        "the labelled letters",
        ["a text that nobody has read yet", "another text of a line"],
        LABELS,
        {"letters.txt": ["another text of a line"]},
    )
    release = Release(staff=("answers/*.md",), secrets=lambda assignment, private: [secret])
    course = opened(mine, release)
    return Secrets(dataclasses.replace(course, variants=(), honest=()))


@pytest.mark.parametrize(
    ("name", "content", "what"),
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
def test_what_students_must_not_get_is_found(
    mine: Path, name: str, content: str, what: str | None
) -> None:
    found = leaks(secrets_of(mine), {name: content.encode()})

    if what is None:
        assert found == []
    else:
        assert [leak for leak in found if leak.path == name and leak.what.startswith(what)]


def test_tensors_of_no_public_references_are_found_but_not_those_that_are_declared(
    mine: Path,
) -> None:
    tensors = save({"x": np.zeros(3)})
    (mine / "more.safetensors").write_bytes(tensors)
    course = opened(mine, Release(copied=("*.safetensors",)))

    found = leaks(Secrets(course), {"more.safetensors": tensors, "b.safetensors": tensors})

    assert [str(leak) for leak in found] == ["b.safetensors: is not one of the public references"]


def test_the_command_says_what_it_found(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "given" / "solution" / "a.py", "x = 1\n")

    done = called(tmp_path, "-C", str(folder), "leaks", str(tmp_path / "given"))

    assert (done.returncode, done.stdout) == (1, "solution/a.py: is for staff only: solution/\n")
