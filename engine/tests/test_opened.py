"""What tests do so that other users can read what only root may."""

import os
import sys
from pathlib import Path

import pytest

from graded import ran
from tiers import AS_USER, USERS

pytestmark = pytest.mark.tier("contained")  # which may mount folders, too
HERE = Path(__file__).resolve().parent
READ = """
import pathlib, subprocess, sys
from opened import open_to_others

open_to_others(pathlib.Path(sys.argv[1]))
subprocess.run(sys.argv[2:], check=True)
"""


def test_another_user_reads_what_only_root_may(tmp_path: Path) -> None:
    folder = tmp_path / "closed" / "folder, with: commas"
    folder.mkdir(parents=True)
    file = folder / "file.txt"
    file.write_text("read", encoding="utf-8")
    for path, mode in ((file, 0o600), (folder, 0o700), (folder.parent, 0o700)):
        path.chmod(mode)
    user = [AS_USER, USERS["user"]] if os.getuid() == 0 else []

    completed = ran(sys.executable, "-c", READ, folder, *user, "cat", file, cwd=HERE)

    assert completed.stdout == "read", completed.stderr
    assert [path.stat().st_mode & 0o777 for path in (file, folder)] == [0o600, 0o700]
