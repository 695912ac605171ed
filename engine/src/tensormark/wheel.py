"""This distribution as a wheel, for those who get an assignment: made from what is installed here.

It has the files that a build of the sources has, whether they are installed from a wheel or run
where they are edited; its bytes depend on nothing else.
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
from tensormark.zipped import zipped

NAME = "tensormark"
METADATA = ("METADATA", "WHEEL", "entry_points.txt")  # and licenses; what installers add stays here
LICENSES = "licenses"


class WheelError(Exception):
    """No wheel can be made; the message gives the fix."""


@dataclasses.dataclass(frozen=True)
class Wheel:
    """A wheel.

    Attributes:
        name: of the file, such as "tensormark-1.6.0-py3-none-any.whl".
        content: its bytes.
        files: what is in it: path to content.
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
    """Return what is installed of this distribution.

    Raises:
        WheelError: it is not installed, and only runs.
    """
    try:
        return distribution(NAME)
    except PackageNotFoundError as error:
        raise WheelError(
            f"{NAME} is not installed, so that its metadata is missing: install it with pip, "
            f"for example by `pip install --editable engine`"
        ) from error


def metadata(of: Distribution) -> Iterator[tuple[str, bytes]]:
    """Yield the files that describe the distribution: path in the wheel, and content.

    Raises:
        WheelError: one is missing.
    """
    folder, missing = f"{NAME}-{of.version}.dist-info", {*METADATA}
    for path in of.files or ():
        name = path.as_posix()
        inside = name.removeprefix(f"{folder}/")
        if name != inside and (inside in METADATA or inside.startswith(f"{LICENSES}/")):
            missing.discard(inside)
            yield name, path.read_binary()
    if missing:
        raise WheelError(f"{folder} has no {min(missing)}: install {NAME} again, with pip")


def line_of(name: str, content: bytes) -> tuple[str, str, int]:
    """Return what RECORD says of a file: path, digest and size in bytes."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return name, f"sha256={digest}", len(content)


def record(files: Mapping[str, bytes], path: str) -> bytes:
    """Return RECORD, the list of a wheel's files, which stands in it at `path`."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerows(line_of(name, files[name]) for name in sorted(files))
    rows.writerow((path, "", ""))
    return text.getvalue().encode()


@functools.cache
def wheel() -> Wheel:
    """Return the wheel.

    Raises:
        WheelError: the distribution is not installed as it should be.
    """
    of = installed()
    folder = f"{NAME}-{of.version}.dist-info"
    files = dict(metadata(of)) | dict(package_files())
    about = files[f"{folder}/WHEEL"].decode()
    (tag, *_) = [line.removeprefix("Tag: ") for line in about.splitlines() if "Tag: " in line]
    files[f"{folder}/RECORD"] = record(files, f"{folder}/RECORD")
    return Wheel(f"{NAME}-{of.version}-{tag}.whl", zipped(files), files)
