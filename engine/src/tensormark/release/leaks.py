"""Check a release for leaked material: `tensormark leaks ZIP_OR_FOLDER`.

    secret               how it is recognized
    solution regions,    any telling line of them, wherever it is written: spaces, quotes and
    mistakes' code         escapes do not count, which covers JSON and metadata
    staff's files        any long line of their code and pages, such as answers and rubrics, that no
                           file for students has
    texts, labels        a declared text anywhere except in a file of bare texts; the labels as a
                           sequence of numbers, as bytes or as text
    private references   recorded tensors that the public manifest does not list, wherever they
                           are; files of any private references in the assignment's folder
    other files          names and kinds of files that are not given out, such as .pyc

Nested zips, including wheels, are opened; the engine's own files are not secret. Text is found in
binary files too. Not covered: text that is compressed in another way, encoded or reworded, and
tensors that hold it in another form.
"""

import dataclasses
import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from tensormark.authoring.course import open_course
from tensormark.files import digest
from tensormark.folder import PACKAGE, STAFF_ONLY, open_assignment
from tensormark.release.secrets import Secrets, squeezed
from tensormark.usage import UserError, parser
from tensormark.wheel import wheel

KINDS = frozenset(".py .md .html .json .safetensors .zip .whl".split())
REFERENCES = "reference_outputs"
END_OF_LINE = re.compile(r"\\n|[\r\n]")


@dataclasses.dataclass(frozen=True)
class Leak:
    """Something that must not be given out, and where it was found."""

    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"


def _of_engine(path: str, content: bytes) -> bool:
    """Return whether a file is one of the engine's own, in its wheel."""
    _, suffix, name = path.rpartition(".whl/")
    return bool(suffix) and wheel().files.get(name) == content


def _in_name(secrets: Secrets, path: str) -> Iterator[str]:
    place = PurePosixPath(path)
    if staff := sorted({*place.parts} & secrets.staff_folders):
        yield f"is for staff only: {staff[0]}/"
    if place.parts[:1] == (PACKAGE,) and {*place.parts[1:2]} & {*STAFF_ONLY}:
        yield f"is for staff only: {PACKAGE}/{place.parts[1]}"
    kinds = KINDS | {PurePosixPath(name).suffix for name in secrets.files} - {""}
    names = {PurePosixPath(name).name for name in secrets.files}
    if place.suffix not in kinds and place.name not in names:
        yield "is a kind of file that is not given out"


def _in_code(secrets: Secrets, text: str) -> Iterator[str]:
    """Find lines of the solution, of mistakes, of right code and of staff's files."""
    code = secrets.code.search(squeezed(text).encode("utf-8", "replace"))
    yield from (f"holds {what}" for what in sorted({*code.values()}))
    pieces = {squeezed(piece) for piece in END_OF_LINE.split(text)}
    if lines := sorted(pieces & secrets.staff_lines):
        yield f"holds an instructor's line: {lines[0][:60]}"


def _in_labels(secrets: Secrets, path: str, content: bytes) -> Iterator[str]:
    strings = secrets.labelled.search(content)
    if path in secrets.bare:
        what, bare = secrets.bare[path]
        if content.decode("utf-8", "replace").splitlines() != bare:
            yield f"is not the bare {what.removeprefix('the ')}"
        strings = {string: what for string, what in strings.items() if string.decode() not in bare}
    for what in sorted({*strings.values()}):
        first, *others = sorted(string for string in strings if strings[string] == what)
        shown = "" if what.startswith("labels of") else f": {first.decode()!r}"
        yield f"holds {what}{shown}{f' and {len(others)} more' if shown and others else ''}"


def _in_references(secrets: Secrets, files: Mapping[str, bytes]) -> Iterator[Leak]:
    """Find references that are not the public ones."""
    path = f"{REFERENCES}/manifest.json"
    manifest = json.loads(files.get(path, b"{}"))
    digests = {f"{REFERENCES}/{name}": value for name, value in manifest.get("files", {}).items()}
    if path in files and manifest.get("private", True):
        yield Leak(path, "belongs to private references")
    for name, content in files.items():
        of_references = name not in secrets.files and name.endswith(".safetensors")
        if of_references and digests.get(name) != digest(content):
            yield Leak(name, "is not one of the public references")


def unzipped(path: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield a file, and what is in it if it is a zip."""
    yield path, content
    if content.startswith(b"PK\3\4"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                yield from unzipped(f"{path}/{name}", archive.read(name))


def leaks(secrets: Secrets, files: Mapping[str, bytes]) -> list[Leak]:
    """Return the leaks in the files of a release, which are given by their paths in it."""
    leaked = list(_in_references(secrets, files))
    for name, whole in files.items():
        for path, content in unzipped(name, whole):
            if _of_engine(path, content):
                continue
            binary = path.endswith(".safetensors")
            text = content.decode("latin-1" if binary else "utf-8", "replace")
            faults = [*_in_name(secrets, path), *_in_code(secrets, text)]
            faults += _in_labels(secrets, path, content)
            if private := secrets.private_files.get(digest(content)):
                faults.append(f"is {private}")
            leaked += [Leak(path, what) for what in faults]
    return leaked


def _unpacked(path: Path) -> dict[str, bytes]:
    """Read a release, packed or not; paths omit its top folder."""
    if path.is_dir():
        inside = [file for file in sorted(path.rglob("*")) if file.is_file()]
        return {file.relative_to(path).as_posix(): file.read_bytes() for file in inside}
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        return {name.partition("/")[2]: archive.read(name) for name in names}


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Search a release; return 1 if something was found, 2 if there is nothing to search."""
    command_line = parser(name, "Check a release for leaked material.")
    command_line.add_argument("release", type=Path, help="a zip, or the folder that was in it")
    options = command_line.parse_args(arguments)
    try:
        secrets = Secrets(open_course(open_assignment(folder)))
        leaked = leaks(secrets, _unpacked(options.release))
    except (zipfile.BadZipFile, ValueError) as error:
        raise UserError(str(error)) from error
    print("\n".join(map(str, leaked)) or "nothing was found")
    return 1 if leaked else 0
