"""What minBERT's release has besides the usual files, and what it must not contain."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.sentiment import HIDDEN, read_sentences
from instructor.cards import for_students
from instructor.hidden import find_in
from tensormark.exercise import Assignment
from tensormark.release.given_out import Release, Secret

UNLABELLED = "data/test.txt"
PUBLIC = ("pretraining.txt", "train.txt", "dev.txt", "README.md")  # of data/


def _without_labels(name: str, text: str) -> str:
    """Return the sentences of `label ||| sentence` lines."""
    return "".join(f"{line.partition('|||')[2].strip()}\n" for line in text.splitlines())


def secrets(assignment: Assignment, private: Sequence[Path]) -> Iterator[Secret]:
    """Yield the labelled sentences that are never given out.

    Test sentences may happen to occur in public text; private ones were drawn so that none does.
    """
    test = read_sentences(assignment.folder / UNLABELLED)
    public = find_in((assignment.data / name).read_bytes() for name in PUBLIC)(test.texts)
    unpublished = [text for text in test.texts if text not in public]
    bare = {UNLABELLED: test.texts}
    yield Secret("the test sentences", unpublished, test.labels.tolist(), bare)
    for path in [folder / HIDDEN for folder in private]:
        if path.is_file():
            own, root = read_sentences(path), assignment.folder
            shown = path.relative_to(root) if path.is_relative_to(root) else path
            yield Secret(f"the private sentences of {shown}", own.texts, own.labels.tolist())


RELEASE = Release(
    copied=("checkpoint/*.json", "data/pretraining.txt"),
    students="instructor/students",
    edited={
        "checkpoint/README.md": for_students,
        "data/README.md": for_students,
        UNLABELLED: _without_labels,
    },
    staff=(
        "INSTRUCTOR.md",
        "instructor/*.md",
        "instructor/**/*.py",
        "tests/**/*.py",
        "benchmarks/**/*.py",
        ".ci/*",
    ),
    secrets=secrets,
)
