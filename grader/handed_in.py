"""What is known of a submission before any of it runs."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.cases import Exercise
from grader.intake import EDITABLE, MAX_SOURCE, Submission
from grader.outcomes import Finding, Outcome, Result
from grader.policy import flags
from grader.store import Store, StoreError

ROOT = Path(__file__).resolve().parent.parent
STARTER = ROOT / "starter"


def result_of(
    exercise: Exercise, outcome: Outcome, findings: Sequence[Finding] = (), why: str = ""
) -> Result:
    """Return the result of an exercise that no check was run for."""
    score = None if outcome is Outcome.COULD_NOT_GRADE else 0.0
    bonus, most = exercise.extension, exercise.max_score
    return Result(exercise.id, outcome, score, most, tuple(findings), why, bonus)


def given_digests(references: Path) -> Mapping[str, str]:
    """Return sha256 of the starter's files as they were given; of none, without a manifest."""
    try:
        digests: Mapping[str, str] = Store(references).manifest.get("starter", {})
    except StoreError:  # it will be told of every exercise
        return {}
    return digests


def known_before(
    exercise: Exercise, submission: Submission, given: Mapping[str, str]
) -> Result | None:
    """Return the result of an exercise that need not be asked for.

    That of an extension whose file was not handed in, or as it was given, and that of a file that
    is not Python.

    Args:
        given: sha256 of the starter's files. The starter itself is no measure: students work in it.
    """
    text = submission.sources.get(exercise.module)
    if exercise.extension and (text is None or is_given(text.encode(), given.get(exercise.file))):
        return result_of(exercise, Outcome.NOT_WRITTEN)
    for module in dict.fromkeys(("bert", exercise.module)):
        if fault := submission.faults.get(module):
            finding = Finding(f"{module}.py cannot be imported", (fault,))
            return result_of(exercise, Outcome.FAILED, [finding])
    return None


def is_given(content: bytes, digest: str | None) -> bool:
    """Say whether this is what was given; lines may end as Windows has them."""
    return hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest() == digest


def as_given(path: Path, digest: str) -> bool:
    """Say whether a stranger's file, of whatever size, is the given one."""
    try:
        with path.open("rb") as file:
            return is_given(file.read(MAX_SOURCE + 1), digest)
    except OSError:  # it may not be read
        return False


def changed_given_files(path: Path, given: Mapping[str, str]) -> list[str]:
    """Say which of the given files a folder has changed, and which are not as given here.

    Args:
        path: the folder that was handed in.
        given: sha256 of the starter's files.
    """
    fixed = {name: digest for name, digest in sorted(given.items()) if name not in EDITABLE}
    here = [name for name, digest in fixed.items() if not as_given(STARTER / name, digest)]
    notes = [
        f"starter/{name} is not as it was given, and is what grading uses here" for name in here
    ]
    if path.is_dir() and path.resolve() != STARTER:
        there = [name for name in fixed if (path / name).is_file()]
        changed = [name for name in there if not as_given(path / name, fixed[name])]
        notes += [f"{n} differs from the given one, which is what grading uses" for n in changed]
    return notes


def flags_of(submission: Submission) -> list[str]:
    """List what an instructor may want to look at, as file:line."""
    readable = {name: text for name, text in submission.sources.items() if text}
    return [
        f"{name}.py:{flag.line}: {flag.name}"
        for name, text in readable.items()
        for flag in flags(text)
    ]


def sources_of(submission: Submission) -> dict[str, str]:
    """Lay the submission's files over the given ones."""
    given = {path.stem: path.read_text(encoding="utf-8") for path in STARTER.glob("*.py")}
    return given | submission.sources
