"""What is known of a submission before any of it runs."""

from collections.abc import Sequence
from pathlib import Path

from grader.cases import Exercise
from grader.intake import EDITABLE, Submission
from grader.outcomes import Finding, Outcome, Result
from grader.policy import flags

ROOT = Path(__file__).resolve().parent.parent
STARTER = ROOT / "starter"


def result_of(
    exercise: Exercise, outcome: Outcome, findings: Sequence[Finding] = (), why: str = ""
) -> Result:
    """Return the result of an exercise that no check was run for."""
    score = None if outcome is Outcome.COULD_NOT_GRADE else 0.0
    bonus, most = exercise.extension, exercise.max_score
    return Result(exercise.id, outcome, score, most, tuple(findings), why, bonus)


def known_before(exercise: Exercise, submission: Submission) -> Result | None:
    """Return the result of an exercise that need not be asked for.

    That of an extension whose file was not handed in, and that of a file that is not Python.
    """
    starter = STARTER / exercise.file
    text = submission.sources.get(exercise.module)
    if exercise.extension and text in (None, starter.read_text(encoding="utf-8")):
        return result_of(exercise, Outcome.NOT_WRITTEN)
    for module in dict.fromkeys(("bert", exercise.module)):
        if fault := submission.faults.get(module):
            finding = Finding(f"{module}.py cannot be imported", (fault,))
            return result_of(exercise, Outcome.FAILED, [finding])
    return None


def differs(path: Path, content: bytes) -> bool:
    """Say whether a stranger's file, of whatever size, holds something else."""
    try:
        with path.open("rb") as file:
            return file.read(len(content) + 1) != content
    except OSError:  # it may not be read
        return True


def changed_given_files(path: Path) -> list[str]:
    """Say which of the given files a folder has changed; grading uses the given ones."""
    given = [file for file in sorted(STARTER.glob("*.py")) if file.name not in EDITABLE]
    there = [file for file in given if (path / file.name).is_file()]
    changed = [file.name for file in there if differs(path / file.name, file.read_bytes())]
    return [f"{name} differs from the given one, which is what grading uses" for name in changed]


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
