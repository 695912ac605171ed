"""The wheel of the installed package is what a build makes, in the same bytes each time."""

import io
import zipfile
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from unittest import mock

import pytest

from tensormark import wheel as module
from tensormark.usage import UserError
from tensormark.wheel import wheel

SOURCES = Path(__file__).resolve().parents[1]


def test_the_wheel_is_what_a_build_of_the_sources_makes(tmp_path: Path) -> None:
    flit = pytest.importorskip("flit_core.wheel")

    def unpacked(content: bytes) -> dict[str, list[bytes]]:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:  # the order of RECORD's lines is free
            return {name: sorted(archive.read(name).splitlines()) for name in archive.namelist()}

    built = flit.make_wheel_in(SOURCES / "pyproject.toml", tmp_path).file

    assert wheel().name == built.name
    assert unpacked(wheel().content) == unpacked(built.read_bytes())
    assert wheel.__wrapped__().content == wheel().content


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("distribution", mock.Mock(side_effect=PackageNotFoundError), "is not installed, so its"),
        ("METADATA", ("WHEEL", "nothing.txt"), r"tensormark-.+\.dist-info has no nothing\.txt"),
    ],
)
def test_a_package_that_is_not_installed_or_not_completely_is_an_error(
    monkeypatch: pytest.MonkeyPatch, name: str, value: object, message: str
) -> None:
    monkeypatch.setattr(module, name, value)

    with pytest.raises(UserError, match=message):
        wheel.__wrapped__()


def test_sources_of_another_version_than_the_installed_one_make_no_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "0.0.1"\n')
    monkeypatch.setattr("tensormark.__file__", str(tmp_path / "src" / "tensormark" / "__init__.py"))

    with pytest.raises(UserError, match=r"differs: reinstall it"):
        wheel.__wrapped__()
