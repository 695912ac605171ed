"""What students must not get, looked for in a release before it is written.

    solution, mistakes,   any telling line of them, wherever it is, also in JSON: spaces, quotes and
      right code          escapes do not count; a line that students get anyway is not secret
    declared secrets      any of their lines, in the same way; the labels as a sequence of digits,
                          whatever stands between them
    private references    any file of them

Not covered: what is reworded, encoded or compressed; nothing in a zip or a wheel is looked at.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tensormark.authoring.course import Course
from tensormark.authoring.record import private_folders
from tensormark.authoring.strip import derive
from tensormark.files import digest, sha256
from tensormark.release.given_out import Secret, fitting

TELLING = 20  # characters of a line, without spaces; shorter ones, such as `return x`, are common
RUN = 48  # consecutive labels that cannot be a coincidence
END_OF_LINE = re.compile(r"\\n|[\r\n]")
NOISE = re.compile(r"[\s\\\"'`]+|,$")
ENGINE = Path(__file__).resolve().parents[1]


def _telling(text: str) -> set[str]:
    """Return the telling lines of a text, without comments, quotes, escapes and spaces."""
    lines = {NOISE.sub("", line.split("  #")[0].rstrip()) for line in END_OF_LINE.split(text)}
    return {line for line in lines if len(line) >= TELLING and not line.startswith("#")}


def _secret_code(course: Course) -> Iterator[tuple[str, str]]:
    """Yield the solution, mistakes and right code: what each is, and its text."""
    sources = course.assignment.solution_sources
    for variant in course.variants:
        source = sources[variant.module]
        changed = set(variant.apply(source).splitlines()) - set(source.splitlines())
        edits = [new for _, new in variant.edits]  # may be less than a line
        yield f"code of the variant {variant.id}", "\n".join([*changed, *edits])
    for honest in course.honest:
        yield f"code of the honest variant {honest.id}", "\n".join(honest.bodies.values())
    for name, source in sources.items():
        yield f"a region of solution/{name}.py", source  # all else of it is given out


def _private_files(course: Course, folders: Sequence[Path]) -> dict[str, str]:
    """Return the names of the files of private references, by digest."""
    private: dict[str, str] = {}
    for folder in folders:
        private |= {sha256(path): str(path) for path in fitting(folder, "*")}
    public = {sha256(path) for path in fitting(course.assignment.references, "*")}
    return {content: name for content, name in private.items() if content not in public}


def leaks(course: Course, files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield what must not be given out, and where it is.

    Args:
        files: the files of a release, by their paths in it.
    """
    folders = list(private_folders(course))
    private = _private_files(course, folders)
    secrets: list[Secret] = list(course.staff.release.secrets(course.assignment, folders))
    given = list(derive(course.assignment).values())
    given += [path.read_text(encoding="utf-8") for path in fitting(ENGINE, "**/*.py")]
    public = _telling("\n".join(given))
    lines: dict[str, str] = {}
    for what, text in _secret_code(course):
        lines |= dict.fromkeys(_telling(text) - public, what)
    for secret in secrets:
        lines |= dict.fromkeys(_telling("\n".join(secret.lines)), secret.what)
    runs = {"".join(map(str, secret.labels[:RUN])): secret.what for secret in secrets}
    for path, content in files.items():
        if digest(content) in private:
            yield f"{path}: is {private[digest(content)]}"
        text = content.decode("utf-8", "replace")
        found = {lines[line] for line in _telling(text) if line in lines}
        digits = re.sub("[^0-9]", "", text)
        found |= {f"labels of {runs[run]}" for run in runs if len(run) == RUN and run in digits}
        yield from (f"{path}: holds {what}" for what in sorted(found))
