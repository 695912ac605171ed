"""Build this distribution's wheel from the installed files, for those who get an assignment.

It has the same files as a build from source, whether the package was installed from a wheel or in
editable mode; its bytes depend on nothing else.
"""

import base64
import functools
import hashlib
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

import tensormark
from tensormark.usage import UserError
from tensormark.zipped import zipped

NAME = "tensormark"
METADATA = ("METADATA", "WHEEL", "entry_points.txt")  # and licenses; installers add other files
LICENSES = "licenses/"


class Wheel(NamedTuple):
    """A wheel file: its name, such as "tensormark-1.9.0-py3-none-any.whl", and its bytes."""

    name: str
    content: bytes


def _package_files() -> Iterator[tuple[str, bytes]]:
    """Yield the files of the running package: path in the wheel, and content."""
    folder = Path(tensormark.__file__).parent
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"{NAME}/{path.relative_to(folder).as_posix()}", path.read_bytes()


def _metadata(package: Distribution, folder: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files that describe the distribution."""
    for path in package.files or ():
        name = path.as_posix()
        if name.removeprefix(folder) in METADATA or name.startswith(folder + LICENSES):
            yield name, path.read_binary()


@functools.cache
def wheel() -> Wheel:
    """Build the wheel.

    Raises:
        UserError: the distribution is not installed.
    """
    try:
        package = distribution(NAME)
    except PackageNotFoundError as error:
        raise UserError(
            f"{NAME} is not installed, so its metadata is missing: install it with pip, "
            f"for example with `pip install --editable engine`"
        ) from error
    folder = f"{NAME}-{package.version}.dist-info/"
    files = dict(_package_files()) | dict(_metadata(package, folder))
    record = []
    for name in sorted(files):
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=")
        record.append(f"{name},sha256={digest.decode()},{len(files[name])}\n")
    _, _, tag = files[f"{folder}WHEEL"].decode().partition("\nTag: ")
    files[f"{folder}RECORD"] = "".join([*record, f"{folder}RECORD,,\n"]).encode()
    return Wheel(f"{NAME}-{package.version}-{tag.split()[0]}.whl", zipped(files))
