"""Search what is given out for what is not: `python -m instructor.release.leaks ZIP_OR_FOLDER`.

    secret               how it is recognized
    solution regions,    any line of them that says something, wherever it is written: spaces,
    variants' code         quotes and escapes do not count, which covers JSON and metadata
    instructor's files   any long line of their code, answers and rubrics that no file for students
                           has
    test labels          a test sentence anywhere but in the file of bare sentences; the labels as
                           numbers in a row, as bytes or as text
    private references   recorded tensors that the public manifest does not list, wherever they
                           are; files and sentences of any private references in this repository
    other files          names and kinds of files that are not given out, such as .pyc

Zips within are opened. Covered: text, also within binary files. Not covered: what is compressed
otherwise, encoded or reworded; tensors that hold such text in another form.
"""

import dataclasses
import functools
import io
import json
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from grader.assignment import MINBERT
from grader.assignment.sentiment import HIDDEN, Sentences, read_sentences
from grader.files import ROOT, digest
from instructor.references.course import SEED
from instructor.references.honest import honest
from instructor.references.private import private_folders
from instructor.references.strip import MARKER, derive
from instructor.references.variants import apply, region_of, variants
from instructor.release.needles import WINDOW, Needles

KINDS = frozenset(".py .md .html .css .txt .json .ipynb .safetensors .png .svg .zip .yml".split())
NO_KIND = frozenset(("LICENSE", "Makefile", ".gitignore"))
STAFF = ("instructor", "solution", "tests", "benchmarks", ".ci", ".git", "private", "__pycache__")
REFERENCES, BARE = "reference_outputs", "data/test.txt"
SAYS_LITTLE = 20  # characters, without spaces; shorter lines, such as `return x`, are anywhere
LONG = 40  # of a line that tells an instructor's file from others
RUN = 48  # labels in a row that are no coincidence
NOISE = re.compile(r"[\s\\\"'`]+")
END_OF_LINE = re.compile(r"\\n|[\r\n]")


@dataclasses.dataclass(frozen=True)
class Leak:
    """Something that is not given out, and where it was found."""

    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"


def squeezed(text: str) -> str:
    """Return a text without what quoting, escaping and indenting it changes."""
    return NOISE.sub("", text)


def lines_of(text: str, least: int) -> Iterator[str]:
    """Yield the lines of code that say something, squeezed and without their comments."""
    for line in text.splitlines():
        code = squeezed(line.split("  #")[0])
        if len(code) >= least and not code.startswith("#"):
            yield code


def regions(source: str) -> str:
    """Return what stands between the markers of a source of solution/."""
    inside, lines = False, []
    for line in source.splitlines():
        if marker := MARKER.match(line):
            inside = marker["kind"] == "BEGIN"
        elif inside:
            lines.append(line)
    return "\n".join(lines)


def tree(folders: Iterable[str]) -> Iterator[str]:
    """Yield the text of every source in these folders of the repository."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.read_text(encoding="utf-8")


def pages() -> Iterator[str]:
    """Yield the text of every page for staff, such as the answers to the written questions."""
    for path in (ROOT / "INSTRUCTOR.md", *sorted((ROOT / "instructor").glob("*.md"))):
        yield path.read_text(encoding="utf-8")


@functools.cache
def code() -> Needles:
    """Return the lines of the solution's regions and of their variants, and what each is.

    What also stands in given code is no secret.
    """
    found: dict[str, str] = {}
    sources = {path.stem: path.read_text("utf-8") for path in (ROOT / "solution").glob("*.py")}
    for variant in variants():
        source = apply(variant, sources[variant.module])
        begin, end = (0, len(source)) if variant.everywhere else region_of(source, variant.exercise)
        edited = [new for _, new in variant.edits]  # which may be less than a line
        for line in lines_of("\n".join([source[begin:end], *edited]), SAYS_LITTLE):
            found[line] = f"code of the variant {variant.id}"
    for one in honest():
        for line in lines_of("\n".join(one.bodies.values()), SAYS_LITTLE):
            found[line] = f"code of the honest variant {one.id}"
    for name, source in sources.items():
        for line in lines_of(regions(source), SAYS_LITTLE):
            found[line] = f"a region of solution/{name}.py"
    given = squeezed("\n".join(derive(MINBERT).values()))
    return Needles({line.encode(): what for line, what in found.items() if line not in given})


@functools.cache
def staff_lines() -> frozenset[str]:
    """Return the long lines of instructors' files that no file for students has."""
    texts = "handout.md data/README.md checkpoint/README.md instructor/release/page.py".split()
    texts += ["Makefile", "instructor/release/students/README.md"]
    given = [*tree(["grader", "starter"]), *((ROOT / name).read_text("utf-8") for name in texts)]
    public = {line for text in given for line in lines_of(text, LONG)}
    staff = [*tree(["instructor", "tests", "benchmarks"]), *pages()]
    return frozenset(line for text in staff for line in lines_of(text, LONG)) - public


def _named(path: Path) -> str:
    """Return a path as messages give it."""
    return (path.relative_to(ROOT) if path.is_relative_to(ROOT) else path).as_posix()


@functools.cache
def private_files() -> dict[str, str]:
    """Return the digests of the files of all private references here, to their names."""
    public = {path.read_bytes() for path in (ROOT / REFERENCES).glob("*") if path.is_file()}
    found = {}
    for folder in private_folders(ROOT):
        for path in sorted(folder.glob("*")):
            if path.is_file() and (content := path.read_bytes()) not in public:
                found[digest(content)] = _named(path)
    return found


@functools.cache
def secret_sentences() -> tuple[tuple[str, Sentences], ...]:
    """Return the labelled sentences that nobody is given, and what they are."""
    private = [folder / HIDDEN for folder in private_folders(ROOT)]
    named = [("the test sentences", ROOT / BARE)]
    named += [(f"the private sentences of {_named(p)}", p) for p in private if p.is_file()]
    return tuple((name, read_sentences(path)) for name, path in named)


def label_runs(labels: np.ndarray) -> Iterator[bytes]:
    """Yield the first labels as tensors and as lists of numbers hold them."""
    first = labels[:RUN]
    yield from (first.astype(kind).tobytes() for kind in ("<i1", "<i4", "<i8", "<f4", "<f8"))
    for separator in ("", ",", ", ", " ", "\n", "\\n"):
        yield separator.join(map(str, first.tolist())).encode()


@functools.cache
def labelled() -> Needles:
    """Return the secret sentences and their labels, but no short ones.

    Test sentences may happen to stand in public text; private ones were drawn so that none does.
    """
    names = ("pretraining.txt", "train.txt", "dev.txt", "README.md")
    public = "\n".join((ROOT / "data" / name).read_text(encoding="utf-8") for name in names)
    found: dict[bytes, str] = {}
    for number, (what, known) in enumerate(secret_sentences()):
        texts = [text for text in known.texts if number or text not in public]
        found |= {text.encode(): what for text in texts if len(text.encode()) >= WINDOW}
        found |= dict.fromkeys(label_runs(known.labels), f"labels of {what}")
    return Needles(found)


def in_name(path: str) -> Iterator[str]:
    """Say what is wrong with the name of a file."""
    place = PurePosixPath(path)
    if staff := sorted({*place.parts} & {*STAFF}):
        yield f"is of staff's {staff[0]}/"
    if place.suffix not in KINDS and place.name not in NO_KIND:
        yield "is of a kind that is not given out"


def in_code(text: str) -> Iterator[str]:
    """Find lines of the solution, of variants and of instructors' files."""
    found = sorted({*code().found(squeezed(text).encode("utf-8", "replace")).values()})
    yield from (f"holds {what}" for what in found)
    pieces = {squeezed(piece) for piece in END_OF_LINE.split(text)}
    if lines := sorted(pieces & staff_lines()):
        yield f"holds an instructor's line: {lines[0][:60]}"


def in_labels(path: str, content: bytes) -> Iterator[str]:
    """Find secret sentences and labels."""
    found = labelled().found(content)
    if path == BARE:
        bare = secret_sentences()[0][1].texts
        if content.decode("utf-8", "replace").splitlines() != bare:
            yield "is not the bare test sentences"
        found = {one: what for one, what in found.items() if one.decode() not in bare}
    for what in sorted({*found.values()}):
        first, *others = sorted(one for one in found if found[one] == what)
        shown = "" if what.startswith("labels of") else f": {first.decode()!r}"
        yield f"holds {what}{shown}{f' and {len(others)} more' if shown and others else ''}"


def in_references(files: Mapping[str, bytes]) -> Iterator[Leak]:
    """Find references that are not the public ones."""
    manifest = json.loads(files.get(f"{REFERENCES}/manifest.json", b"{}"))
    listed = {f"{REFERENCES}/{name}": value for name, value in manifest.get("files", {}).items()}
    if f"{REFERENCES}/manifest.json" in files and manifest.get("seed") != SEED:
        yield Leak(f"{REFERENCES}/manifest.json", "is of private references")
    for name, content in files.items():
        of_references = not name.startswith("checkpoint/") and name.endswith(".safetensors")
        if of_references and listed.get(name) != digest(content):
            yield Leak(name, "is not of the public references")


def opened(path: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield a file, and what is in it if it is a zip."""
    yield path, content
    if content.startswith(b"PK\3\4"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                yield from opened(f"{path}/{name}", archive.read(name))


def leaks(files: Mapping[str, bytes]) -> list[Leak]:
    """Return what is found in files that are to be given out, by their paths in the release."""
    found = list(in_references(files))
    for name, whole in files.items():
        for path, content in opened(name, whole):
            text = content.decode(
                "latin-1" if path.endswith(".safetensors") else "utf-8", "replace"
            )
            faults = [*in_name(path), *in_code(text), *in_labels(path, content)]
            if private := private_files().get(digest(content)):
                faults.append(f"is {private}")
            found += [Leak(path, what) for what in faults]
    return found


def unpacked(path: Path) -> dict[str, bytes]:
    """Read a release, packed or not, without the folder that it is in."""
    if path.is_dir():
        inside = [file for file in sorted(path.rglob("*")) if file.is_file()]
        return {file.relative_to(path).as_posix(): file.read_bytes() for file in inside}
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        return {name.partition("/")[2]: archive.read(name) for name in names}


def main(arguments: Sequence[str] | None = None) -> int:
    """Search a release."""
    (path,) = sys.argv[1:] if arguments is None else arguments
    found = leaks(unpacked(Path(path)))
    print("\n".join(map(str, found)) or "nothing was found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
