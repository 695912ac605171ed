"""The parts of an assignment that students must not get, prepared for searching."""

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

import numpy as np

from tensormark.authoring.course import Course
from tensormark.authoring.private import private_folders
from tensormark.authoring.strip import MARKER, derive
from tensormark.authoring.variants import region_of
from tensormark.files import digest
from tensormark.folder import PACKAGE
from tensormark.release.given_out import Secret, copied, fitting, only_students
from tensormark.release.needles import WINDOW, Needles
from tensormark.wheel import wheel

TELLING = 20  # characters of a line, without spaces; shorter ones, such as `return x`, are common
LONG = 40  # characters of a line that identifies a file of staff's
RUN = 48  # consecutive labels that cannot be a coincidence
NOISE = re.compile(r"[\s\\\"'`]+")
PROSE = (".py", ".md", "")  # files that people write, line by line


def squeezed(text: str) -> str:
    """Return a text without the characters that quoting, escaping and indenting change."""
    return NOISE.sub("", text)


def _lines_of(text: str, least: int) -> Iterator[str]:
    """Yield the lines of code of at least this length, squeezed and without their comments."""
    for line in text.splitlines():
        code = squeezed(line.split("  #")[0])
        if len(code) >= least and not code.startswith("#"):
            yield code


def _regions(source: str) -> str:
    """Return the lines between the markers in a source of solution/."""
    inside, lines = False, []
    for line in source.splitlines():
        if marker := MARKER.match(line):
            inside = marker["kind"] == "BEGIN"
        elif inside:
            lines.append(line)
    return "\n".join(lines)


def _label_runs(labels: np.ndarray) -> Iterator[bytes]:
    """Yield the first labels as tensors and lists of numbers hold them; nothing if too few."""
    first = labels[:RUN]
    if len(first) == RUN:
        yield from (first.astype(kind).tobytes() for kind in ("<i1", "<i4", "<i8", "<f4", "<f8"))
        for separator in ("", ",", ", ", " ", "\n", "\\n"):
            yield separator.join(map(str, first.tolist())).encode()


def _prose(paths: Iterable[Path]) -> Iterator[str]:
    """Yield the texts of those files that people write."""
    for path in paths:
        if path.suffix in PROSE:
            yield path.read_text(encoding="utf-8", errors="replace")


class Secrets:
    """What students must not get: solution, mistakes, staff's texts, private references, labels."""

    def __init__(self, course: Course) -> None:
        """Take an assignment and what only staff have of it; everything is read on first use."""
        self.course, self.assignment = course, course.assignment
        self.release = course.staff.release

    @functools.cached_property
    def given(self) -> list[str]:
        """The texts that students get with every release: the starter, and the engine's sources."""
        engine = {PurePosixPath(name): content for name, content in wheel().files.items()}
        sources = [content for path, content in engine.items() if path.suffix in PROSE]
        texts = [source.decode("utf-8", "replace") for source in sources]
        return [*derive(self.assignment).values(), *texts]

    @functools.cached_property
    def code(self) -> Needles:
        """The lines of the solution's regions, of mistakes and right code, and what each is.

        Lines that are also in given code are not secret.
        """
        lines: dict[str, str] = {}
        sources = self.course.sources()
        for variant in self.course.variants:
            source = variant.apply(sources[variant.module])
            begin, end = 0, len(source)
            if not variant.everywhere:
                begin, end = region_of(source, variant.exercise)
            edited = [new for _, new in variant.edits]  # may be less than a line
            for line in _lines_of("\n".join([source[begin:end], *edited]), TELLING):
                lines[line] = f"code of the variant {variant.id}"
        for honest in self.course.honest:
            for line in _lines_of("\n".join(honest.bodies.values()), TELLING):
                lines[line] = f"code of the honest variant {honest.id}"
        for name, source in sources.items():
            for line in _lines_of(_regions(source), TELLING):
                lines[line] = f"a region of solution/{name}.py"
        given = squeezed("\n".join(self.given))
        return Needles({line.encode(): what for line, what in lines.items() if line not in given})

    @functools.cached_property
    def staff_files(self) -> list[Path]:
        """The files whose text only staff have, besides the solution."""
        folder = self.assignment.folder
        given = self.files.values()
        own = [path for path in fitting(folder, f"{PACKAGE}/**/*") if path not in given]
        return [
            *own,
            *(path for pattern in self.release.staff for path in fitting(folder, pattern)),
        ]

    @functools.cached_property
    def staff_folders(self) -> frozenset[str]:
        """The names of folders from which nothing is given out."""
        declared = {
            PurePosixPath(pattern).parts[0] for pattern in self.release.staff if "/" in pattern
        }
        return frozenset({"solution", "private", "__pycache__", ".git", *declared})

    @functools.cached_property
    def staff_lines(self) -> frozenset[str]:
        """The long lines of staff's files that no file for students has."""
        given = [path for name, path in self.files.items() if name not in self.release.edited]
        texts = [*self.given, *_prose(given)]
        for name, edition in self.release.edited.items():
            texts.append(edition(name, (self.assignment.folder / name).read_text("utf-8")))
        public = {line for text in texts for line in _lines_of(text, LONG)}
        staff = _prose(self.staff_files)
        return frozenset(line for text in staff for line in _lines_of(text, LONG)) - public

    @functools.cached_property
    def files(self) -> Mapping[str, Path]:
        """The declared files of the release: path in it to file."""
        given = copied(self.assignment, self.release)
        return given | only_students(self.assignment, self.release)

    @functools.cached_property
    def private(self) -> list[Path]:
        """The folders of private references anywhere in the assignment's folder."""
        return list(private_folders(self.course))

    @functools.cached_property
    def private_files(self) -> dict[str, str]:
        """The names of the files of all private references here, by digest."""
        public = {path.read_bytes() for path in fitting(self.assignment.references, "*")}
        digests, root = {}, self.assignment.folder
        for path in [path for folder in self.private for path in fitting(folder, "*")]:
            if (content := path.read_bytes()) not in public:
                name = path.relative_to(root) if path.is_relative_to(root) else path
                digests[digest(content)] = name.as_posix()
        return digests

    @functools.cached_property
    def declared(self) -> tuple[Secret, ...]:
        """The secrets that the assignment declares."""
        return tuple(self.release.secrets(self.assignment, self.private))

    @functools.cached_property
    def labelled(self) -> Needles:
        """The texts and labels of the declared secrets, except short texts."""
        strings: dict[bytes, str] = {}
        for secret in self.declared:
            texts = [text.encode() for text in secret.texts]
            strings |= {text: secret.what for text in texts if len(text) >= WINDOW}
            runs = _label_runs(np.array(secret.labels))
            strings |= dict.fromkeys(runs, f"labels of {secret.what}")
        return Needles(strings)

    @functools.cached_property
    def bare(self) -> dict[str, tuple[str, list[str]]]:
        """The files of bare texts: path to what they give out, and their exact lines."""
        return {
            name: (secret.what, list(lines))
            for secret in self.declared
            for name, lines in secret.bare.items()
        }
