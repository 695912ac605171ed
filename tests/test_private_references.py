"""Private references stay private: their seed, their folder, their sentences, and no release."""

import dataclasses
import json
import shutil

import pytest

from grader.assignment import ASSIGNMENT
from grader.sentiment import HIDDEN
from instructor.hidden import unpublished
from instructor.language.write_data import labelled_lines
from tensormark.authoring.record import destination, private_folders
from tensormark.cli import run
from tensormark.grade import usual_tier
from tensormark.grading import Grading
from tensormark.references import FORMAT, References
from tensormark.release.given_out import published
from tensormark.release.leaks import leaks
from tensormark.release.students_zip import contents
from tensormark.sandbox.tiers import LOCKED, PROCESS
from tensormark.settings import Settings
from tensormark.strictest import Strictest
from tensormark.usage import UserError
from testkit.graded import in_manifest
from tests.helpers import ROOT
from tests.helpers.known import COURSE

SEED = ASSIGNMENT.seed
CHECKPOINT = ASSIGNMENT.checkpoint
SENTENCES = [phrase.words for phrase in unpublished(7, b"")]


def write_references(folder, seed, **more):
    """Write a folder of references of a seed, with a manifest and private sentences."""
    folder.mkdir(parents=True)
    parts = {"files": {}, "exercises": {}, "checkpoint": {}}
    manifest = {"format": FORMAT, "seed": seed, **parts, **more}
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    lines = "".join(f"1 ||| {sentence}\n" for sentence in SENTENCES)
    (folder / HIDDEN).write_text(lines, "utf-8")
    return folder


# options without a private seed or place; each is refused, for a reason that has these words
REFUSED = [
    ("--seed 2026 --out new", "is the seed of the public references"),
    ("--seed 02026 --out new", "is the seed of the public references"),
    *((f"--seed={seed} --out new", "must be an integer") for seed in ("", "-1", "2.0", "x")),
    ("--out new", "is the seed of the public references"),
    ("--seed 7", "but every student gets"),
    ("--seed 7 --out data/../reference_outputs/", "but every student gets"),
]


@pytest.mark.parametrize(("options", "words"), REFUSED)
def test_a_recording_with_no_private_seed_or_place_is_refused_in_one_line_before_it_begins(
    options, words, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(ROOT)
    new = tmp_path / "new"

    assert run(ROOT, "references", options.replace("new", str(new)).split(" ")) == 2

    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert words in captured.err
    assert not new.exists()


def elsewhere(folder):
    """Return the course as it would be in another folder."""
    assignment = dataclasses.replace(ASSIGNMENT, folder=folder)
    return dataclasses.replace(COURSE, assignment=assignment)


def test_seeds_that_students_can_read_are_refused(tmp_path, monkeypatch):
    write_references(tmp_path / "reference_outputs", 31)
    monkeypatch.setattr("grader.staff.recorded_seed", lambda card: 2031)

    with pytest.raises(UserError, match="SEED=31 is the seed of the public references"):
        destination(elsewhere(tmp_path), 31, tmp_path / "private", CHECKPOINT)
    with pytest.raises(UserError, match=r"SEED=2031 is the seed of data/README\.md"):
        destination(COURSE, 2031, tmp_path / "private", CHECKPOINT)


def test_references_are_recorded_again_with_their_seed_and_replace_nothing_else(tmp_path):
    folder = write_references(tmp_path / "private", 8)
    own = tmp_path / "own"
    own.mkdir()
    (own / "essay.txt").write_text("mine", "utf-8")

    assert destination(COURSE, 8, folder, CHECKPOINT) == (8, folder)
    assert destination(COURSE, None, None, CHECKPOINT) == (SEED, ASSIGNMENT.references)
    other = ASSIGNMENT.references / "private" / own.name
    assert destination(COURSE, None, None, own) == (SEED, other)
    for seed, place in ((7, folder), (7, own), (7, own / "essay.txt")):
        with pytest.raises(UserError, match="name a"):
            destination(COURSE, seed, place, CHECKPOINT)


@pytest.mark.parametrize(("private", "tier"), [(True, LOCKED), (None, LOCKED), (False, PROCESS)])
def test_with_private_references_the_default_is_to_isolate(tmp_path, monkeypatch, private, tier):
    more = {} if private is None else {"private": private}
    folder = write_references(tmp_path / "private", 8, **more)
    found = Strictest(LOCKED, ("contained: no",))
    monkeypatch.setattr("tensormark.strictest.strictest", lambda *_: found)

    grading = Grading(Settings.of(ROOT, references=folder), ASSIGNMENT)
    assert usual_tier(grading) == tier


def test_code_of_others_is_not_run_where_nothing_isolates_it(tmp_path, monkeypatch, capsys):
    folder = write_references(tmp_path / "private", 8)
    none = Strictest(None, ("contained: no bubblewrap",))
    monkeypatch.setattr("tensormark.strictest.strictest", lambda *_: none)

    assert run(ROOT, "check", ["--references", str(folder), str(tmp_path / "eve.zip")]) == 2

    assert "cannot isolate submissions (contained: no bubblewrap)" in capsys.readouterr().err


def test_a_copy_of_the_public_references_is_not_private_whatever_its_manifest_says(
    private, tmp_path, capsys
):
    public = ASSIGNMENT.references
    copy = shutil.copytree(public, tmp_path / "copy", ignore=shutil.ignore_patterns("private"))
    path = copy / "attention.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1  # one bit
    path.write_bytes(content)
    in_manifest(copy, private=True, seed=8)

    assert not References(copy, public).private
    assert References(private, public).private
    assert run(ROOT, "gradescope", ["--references", str(copy)]) == 2
    assert "every student has these" in capsys.readouterr().err


def test_private_folders_are_found_anywhere(tmp_path):
    folders = [write_references(tmp_path / name, 7) for name in ("grader/mine", "runs/a/b", "x")]
    write_references(tmp_path / "public", SEED)

    assert list(private_folders(elsewhere(tmp_path))) == sorted(folders)


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A folder of private references that the search for leaks knows of."""
    folder = write_references(tmp_path / "mine", 7)
    shutil.copy(ASSIGNMENT.references / "embed.safetensors", folder)
    (folder / "causal_mask.safetensors").write_bytes(b"other inputs")
    monkeypatch.setattr("tensormark.release.leaks.private_folders", lambda course: [folder])
    return folder


def test_a_release_with_something_of_private_references_fails(mine):
    (text, *_) = [sentence for sentence in SENTENCES if len(sentence) > 40]
    names = ("manifest.json", HIDDEN, "causal_mask.safetensors")
    files = {f"grader/{name}": (mine / name).read_bytes() for name in names}
    files["handout.md"] = f"For example:\n\n    {text}\n".encode()
    files["reference_outputs/embed.safetensors"] = (mine / "embed.safetensors").read_bytes()

    found = {leak.partition(": ")[0] for leak in leaks(COURSE, files)}

    assert found == files.keys() - {"reference_outputs/embed.safetensors"}


def test_a_release_has_nothing_of_private_references(mine):
    sentences = unpublished(7, b"\0".join(published(ASSIGNMENT, COURSE.staff.release)))
    (mine / HIDDEN).write_text(labelled_lines(sentences), "utf-8")

    assert list(leaks(COURSE, contents(COURSE))) == []


def test_private_sentences_are_balanced_all_different_and_no_part_of_a_published_one():
    phrases = unpublished(3, b"")
    first = phrases[0].words

    again = unpublished(3, f"it is true that {first}".encode())

    assert sum(phrase.value for phrase in phrases) == 0
    assert len({phrase.words for phrase in phrases}) == len(phrases) == 1200
    assert first not in {phrase.words for phrase in again}
