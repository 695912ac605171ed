"""Build this distribution's wheel from the installed files, for those who get an assignment.

It has the same files as a build from source, whether the package was installed from a wheel or in
editable mode; its bytes depend on nothing else.
"""

import base64
import csv
import dataclasses
import functools
import hashlib
import io
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import tensormark
from tensormark.usage import UserError
from tensormark.zipped import zipped

NAME = "tensormark"
METADATA = ("METADATA", "WHEEL", "entry_points.txt")  # and licenses; installers add other files
LICENSES = "licenses"


@dataclasses.dataclass(frozen=True)
class Wheel:
    """A wheel file.

    Attributes:
        name: such as "tensormark-1.9.0-py3-none-any.whl".
        content: its bytes.
        files: the contents of its files, by their paths in it.
    """

    name: str
    content: bytes
    files: Mapping[str, bytes]


def package_files() -> Iterator[tuple[str, bytes]]:
    """Yield the files of the running package: path in the wheel, and content."""
    folder = Path(tensormark.__file__).parent
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"{NAME}/{path.relative_to(folder).as_posix()}", path.read_bytes()


def installed() -> Distribution:
    """Return the installed distribution.

    Raises:
        UserError: the package runs without being installed.
    """
    try:
        return distribution(NAME)
    except PackageNotFoundError as error:
        raise UserError(
            f"{NAME} is not installed, so its metadata is missing: install it with pip, "
            f"for example with `pip install --editable engine`"
        ) from error


def metadata(package: Distribution) -> Iterator[tuple[str, bytes]]:
    """Yield the files that describe the distribution: path in the wheel, and content.

    Raises:
        UserError: a file is missing.
    """
    folder, missing = f"{NAME}-{package.version}.dist-info", {*METADATA}
    for path in package.files or ():
        name = path.as_posix()
        member = name.removeprefix(f"{folder}/")
        if name != member and (member in METADATA or member.startswith(f"{LICENSES}/")):
            missing.discard(member)
            yield name, path.read_binary()
    if missing:
        raise UserError(f"{folder} has no {min(missing)}: reinstall {NAME} with pip")


def record_row(name: str, content: bytes) -> tuple[str, str, int]:
    """Return a file's row in RECORD: path, digest and size in bytes."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return name, f"sha256={digest}", len(content)


def record(files: Mapping[str, bytes], path: str) -> bytes:
    """Return RECORD, the list of a wheel's files, itself included at `path`."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerows(record_row(name, files[name]) for name in sorted(files))
    rows.writerow((path, "", ""))
    return text.getvalue().encode()


@functools.cache
def wheel() -> Wheel:
    """Build the wheel.

    Raises:
        UserError: the distribution is not installed, or not completely.
    """
    package = installed()
    folder = f"{NAME}-{package.version}.dist-info"
    files = dict(metadata(package)) | dict(package_files())
    lines = files[f"{folder}/WHEEL"].decode().splitlines()
    tag = next(line.removeprefix("Tag: ") for line in lines if line.startswith("Tag: "))
    files[f"{folder}/RECORD"] = record(files, f"{folder}/RECORD")
    return Wheel(f"{NAME}-{package.version}-{tag}.whl", zipped(files), files)
