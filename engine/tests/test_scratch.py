"""A submission's own folder: what it may hold, that it is empty each time, and nothing outside."""

import os
from pathlib import Path

import pytest

from tensormark.sandbox.tiers import TIERS
from tensormark.worker import scratch
from testkit.asking import CODE, GIVEN, ask, sandbox_of
from testkit.tiers import marked

ASKS = """
import logging, os, pathlib, tempfile
os.chdir(os.path.dirname(os.path.abspath(__file__)))
os.mkdir("logs")
os.mkdir("../logs")
logging.basicConfig(filename="../logs/debug.log", force=True)
logging.warning("here")
torch.save(torch.ones(1), "tensor.pt")
pathlib.Path("tensor.pt").rename(tempfile.mkdtemp() + "/tensor.pt")
with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as file:
    file.write(b"x")
    os.makedirs(folder + "/a/b")
"""


@pytest.mark.parametrize("tier", marked(TIERS))
def test_each_import_has_an_empty_folder_to_write_to(tier):
    with sandbox_of(tier, CODE + ASKS) as sandbox:
        replies = list(sandbox.run([ask("double"), ask("double", "two")]))
        sandbox.reload({**GIVEN, "main": CODE + ASKS + "\n"})
        replies += sandbox.run([ask("double")])

    assert [reply.status for reply in replies] == ["ok"] * 3, replies


@pytest.mark.parametrize("tier", marked(TIERS))
def test_a_file_has_a_largest_size(tier):
    code = f"with open('large', 'wb') as file:\n    file.write(bytes({scratch.MAX_FILE + 1}))\n"
    with sandbox_of(tier, CODE + code) as sandbox:
        (reply,) = sandbox.run([ask("double")])

    assert "File too large" in reply.text


def nested(folder, depth, mode=0o777):
    """Make folders in each other, deeper than a path may be long."""
    before = Path.cwd()
    os.chdir(folder)
    for _ in range(depth):
        os.mkdir("a" * 200)
        os.chdir("a" * 200)
    Path("file").touch()
    os.chdir(before)
    (folder / ("a" * 200)).chmod(mode)


@pytest.mark.parametrize("mode", [0o777, 0])
def test_a_folder_is_emptied_however_deep_it_is(tmp_path, mode):
    nested(tmp_path, 1500, mode)

    scratch.empty(str(tmp_path))

    assert list(tmp_path.iterdir()) == []


def test_too_many_too_large_and_unreadable_files_are_too_much(tmp_path):
    assert not scratch.is_full(str(tmp_path))

    for name in ("many", "large", "deep"):
        (tmp_path / name).mkdir()
    for number in range(scratch.MAX_ENTRIES + 1):
        (tmp_path / "many" / str(number)).touch()
    for number in range(3):
        (tmp_path / "large" / str(number)).write_bytes(bytes(scratch.MAX_FILE - 1))
    nested(tmp_path / "deep", 100)

    assert all(scratch.is_full(str(folder)) for folder in tmp_path.iterdir())
    scratch.empty(str(tmp_path))
