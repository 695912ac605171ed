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


def test_the_wheel_is_what_a_build_of_the_sources_makes(tmp_path):
    flit = pytest.importorskip("flit_core.wheel")

    def unpacked(content):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:  # the order of RECORD's lines is free
            return {name: sorted(archive.read(name).splitlines()) for name in archive.namelist()}

    built = flit.make_wheel_in(SOURCES / "pyproject.toml", tmp_path).file

    assert wheel().name == built.name
    assert unpacked(wheel().content) == unpacked(built.read_bytes())
    assert wheel.__wrapped__().content == wheel().content


def test_the_wheel_has_its_licence_pages_and_author():
    with zipfile.ZipFile(io.BytesIO(wheel().content)) as archive:
        names = archive.namelist()
        (metadata,) = [archive.read(each).decode() for each in names if each.endswith("/METADATA")]

    assert [name for name in names if name.endswith("/LICENSE")]
    for page in ("first_assignment", "isolation", "changelog"):
        assert f"tensormark/docs/{page}.md" in names
    for line in ("License-Expression: MIT", "Author: ", "Classifier: ", "EXERCISE = exercise("):
        assert f"\n{line}" in metadata


def test_a_package_that_is_not_installed_is_an_error(monkeypatch):
    monkeypatch.setattr(module, "distribution", mock.Mock(side_effect=PackageNotFoundError))

    with pytest.raises(UserError, match="is not installed, so its"):
        wheel.__wrapped__()
