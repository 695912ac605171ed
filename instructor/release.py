"""What minBERT's release has besides the usual files, and what it must not contain."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.sentiment import HIDDEN, Sentences, read_sentences
from instructor.cards import for_students
from tensormark.exercise import Assignment
from tensormark.release.given_out import Release, Secret

UNLABELLED = ("data/test.txt", "data/grades/test.txt")


def _without_labels(name: str, text: str) -> str:
    """Return the sentences of `label ||| sentence` lines."""
    return "".join(f"{line.partition('|||')[2].strip()}\n" for line in text.splitlines())


def _labelled(what: str, sentences: Sentences) -> Secret:
    pairs = zip(sentences.labels.tolist(), sentences.texts, strict=True)
    lines = [f"{label} ||| {text}" for label, text in pairs]
    return Secret(what, lines, sentences.labels.tolist())


def secrets(assignment: Assignment, private: Sequence[Path]) -> Iterator[Secret]:
    """Yield the labels of the test sentences, and the private sentences, which nobody gets."""
    for name in UNLABELLED:
        yield _labelled(f"the sentences of {name}", read_sentences(assignment.folder / name))
    for path in [folder / HIDDEN for folder in private]:
        if path.is_file():
            own = read_sentences(path)
            yield _labelled(f"the private sentences of {path}", own)
            yield Secret(f"the private sentences of {path}", own.texts)


RELEASE = Release(
    copied=("checkpoint/*.json", "data/pretraining.txt", "data/grades/*.txt"),
    students="instructor/students",
    edited={
        "checkpoint/README.md": for_students,
        "data/README.md": for_students,
        **dict.fromkeys(UNLABELLED, _without_labels),
    },
    secrets=secrets,
)
