"""Take a submission in: a folder, a lone bert.py or a zip becomes the text of its editable files.

Only the files that students edit are taken; everything else is left where it is. What cannot be
taken is refused with one sentence that names the file.
"""

import ast
import dataclasses
import stat
import zipfile
from pathlib import Path, PurePosixPath

EDITABLE = ("bert.py",)
MAX_SOURCE = 1 << 20  # bytes; the solution has 8 kB
MAX_MEMBERS = 10_000


class SubmissionError(Exception):
    """A submission that cannot be taken; the message is one sentence."""


@dataclasses.dataclass(frozen=True)
class Submission:
    """The editable files of one submission.

    Attributes:
        name: how it was given on the command line.
        sources: module name to text, such as "bert" to the text of bert.py.
        faults: module name to why it cannot be imported, for files that are not Python.
    """

    name: str
    sources: dict[str, str]
    faults: dict[str, str]


def read_bytes(path: Path) -> bytes:
    """Read a file that is not too large to be a source."""
    if path.stat().st_size > MAX_SOURCE:
        raise SubmissionError(f"{path}: larger than {MAX_SOURCE >> 20} MiB, which no solution is")
    return path.read_bytes()


def from_folder(folder: Path) -> dict[str, bytes]:
    """Read the editable files of a folder; links are followed, it is the owner's own folder."""
    return {name: read_bytes(folder / name) for name in EDITABLE if (folder / name).is_file()}


def from_zip(path: Path) -> dict[str, bytes]:
    """Read the editable files of a zip, wherever in it they lie; nothing is unpacked to disk."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if len(members) > MAX_MEMBERS:
                raise SubmissionError(f"{path}: more than {MAX_MEMBERS} files in the zip")
            found: dict[str, bytes] = {}
            for member in members:
                name = PurePosixPath(member.filename)
                hidden = any(part.startswith((".", "__MACOSX")) for part in name.parts)
                if member.is_dir() or hidden or name.name not in EDITABLE:
                    continue
                if name.name in found:
                    raise SubmissionError(f"{path}: more than one {name.name} in the zip")
                if stat.S_ISLNK(member.external_attr >> 16):
                    raise SubmissionError(
                        f"{path}: {member.filename} is a link; pack the file itself"
                    )
                found[name.name] = read_member(path, archive, member)
            return found
    except (zipfile.BadZipFile, NotImplementedError, EOFError, RuntimeError, OSError) as error:
        raise SubmissionError(f"{path}: the zip cannot be read ({error})") from error


def read_member(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Read one file of a zip, no more than its limit whatever its header says."""
    with archive.open(member) as stream:
        content = stream.read(MAX_SOURCE + 1)
    if len(content) > MAX_SOURCE:
        raise SubmissionError(f"{path}: {member.filename} is larger than {MAX_SOURCE >> 20} MiB")
    return content


def fault_of(name: str, content: bytes) -> tuple[str, str | None]:
    """Decode a source; return its text and why it cannot be imported, if it cannot."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return "", f"{name}:{line}: not UTF-8 text; save the file as UTF-8"
    if not text.strip():
        return "", f"{name} is empty"
    try:
        ast.parse(text, name)
    except SyntaxError as error:
        place = name if error.lineno is None else f"{name}:{error.lineno}"
        return "", f"{place}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return "", f"{name}: not Python source ({error})"
    return text, None


def read_submission(path: str | Path) -> Submission:
    """Read a submission.

    Args:
        path: a folder with a bert.py, a bert.py of any name that ends in .py, or a zip.

    Raises:
        SubmissionError: there is nothing there that could be graded.
    """
    given, path = str(path), Path(path)
    if path.is_dir():
        files = from_folder(path)
    elif path.is_file() and zipfile.is_zipfile(path):
        files = from_zip(path)
    elif path.is_file() and path.suffix == ".py":
        files = {"bert.py": read_bytes(path)}
    elif path.exists():
        raise SubmissionError(f"{given}: not a folder, a .py file or a zip")
    else:
        raise SubmissionError(f"{given}: there is no such file or folder; give SUBMISSION=path")
    if "bert.py" not in files:
        raise SubmissionError(f"{given}: there is no bert.py in it")
    sources, faults = {}, {}
    for name, content in files.items():
        module = name.removesuffix(".py")
        sources[module], fault = fault_of(name, content)
        if fault is not None:
            faults[module] = fault
    return Submission(given, sources, faults)
