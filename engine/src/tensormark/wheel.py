"""Build this distribution's wheel from the installed files, for those who get an assignment.

It has the same files as a build from source, whether the package was installed from a wheel or in
editable mode; its bytes depend on nothing else.
"""

import base64
import csv
import functools
import hashlib
import io
from collections.abc import Iterator, Mapping
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


def _metadata(package: Distribution, folder: str) -> dict[str, bytes]:
    """Return the files that describe the distribution, by their names in a folder.

    Raises:
        UserError: one is missing.
    """
    files = {}
    for path in package.files or ():
        name = path.as_posix().removeprefix(folder)
        if name in METADATA or name.startswith(LICENSES):
            files[name] = path.read_binary()
    missing = {*METADATA} - files.keys()
    if missing:
        raise UserError(f"{folder[:-1]} has no {min(missing)}: reinstall {NAME} with pip")
    return files


def _record(files: Mapping[str, bytes], path: str) -> bytes:
    """Return RECORD, the list of a wheel's files, itself included at `path`."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    for name in sorted(files):
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=")
        rows.writerow((name, f"sha256={digest.decode()}", len(files[name])))
    rows.writerow((path, "", ""))
    return text.getvalue().encode()


@functools.cache
def wheel() -> Wheel:
    """Build the wheel.

    Raises:
        UserError: the distribution is not installed, not completely, or not as the sources are now.
    """
    try:
        package = distribution(NAME)
    except PackageNotFoundError as error:
        raise UserError(
            f"{NAME} is not installed, so its metadata is missing: install it with pip, "
            f"for example with `pip install --editable engine`"
        ) from error
    sources = Path(tensormark.__file__).parents[2] / "pyproject.toml"  # in a checkout
    if sources.is_file() and f'version = "{package.version}"' not in sources.read_text("utf-8"):
        fix = "reinstall it with pip"
        raise UserError(f"{NAME} {package.version} is installed, but {sources} differs: {fix}")
    folder = f"{NAME}-{package.version}.dist-info/"
    metadata = _metadata(package, folder)
    files = dict(_package_files())
    files |= {f"{folder}{name}": content for name, content in metadata.items()}
    files[f"{folder}RECORD"] = _record(files, f"{folder}RECORD")
    _, _, tag = metadata["WHEEL"].decode().partition("\nTag: ")
    name = f"{NAME}-{package.version}-{tag.split()[0]}.whl"
    return Wheel(name, zipped(files))
