"""The wheel of the installed package is what a build makes, in the same bytes each time."""

import base64
import csv
import hashlib
import io
import zipfile
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from tensormark import wheel as module
from tensormark.usage import UserError
from tensormark.wheel import wheel

SOURCES = Path(__file__).resolve().parents[1]


def unpacked(content: bytes | Path) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content) if isinstance(content, bytes) else content) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_is_what_a_build_of_the_sources_makes(tmp_path: Path) -> None:
    flit = pytest.importorskip("flit_core.wheel")

    built = flit.make_wheel_in(SOURCES / "pyproject.toml", tmp_path).file

    assert wheel().name == built.name
    actual = unpacked(wheel().content)
    expected = unpacked(built)
    (record,) = [name for name in expected if name.endswith("/RECORD")]
    assert sorted(actual.pop(record).splitlines()) == sorted(expected.pop(record).splitlines())
    assert actual == expected


def test_the_wheel_has_the_same_bytes_each_time() -> None:
    assert wheel.__wrapped__().content == wheel().content


def test_its_record_has_the_digest_of_every_file() -> None:
    files = unpacked(wheel().content)
    (record,) = [name for name in files if name.endswith("/RECORD")]

    rows = list(csv.reader(io.StringIO(files[record].decode())))

    assert {row[0] for row in rows} == files.keys()
    for name, digest, size in rows:
        if name != record:
            expected = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest())
            assert digest == f"sha256={expected.decode().rstrip('=')}"
            assert int(size) == len(files[name])


def test_a_package_that_runs_without_being_installed_gets_an_error_that_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def not_installed(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(module, "distribution", not_installed)

    with pytest.raises(UserError, match="tensormark is not installed, so its metadata is"):
        wheel.__wrapped__()


def test_metadata_without_a_file_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "METADATA", (*module.METADATA, "nothing.txt"))

    with pytest.raises(UserError, match=r"tensormark-.+\.dist-info has no nothing\.txt"):
        wheel.__wrapped__()
