"""Packs archives for the tests of intake, and returns why one is refused."""

import io
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from grader.assignment import MINBERT
from grader.intake.submission import Submission, SubmissionError, read_submission

SOURCE = b"import torch\n"


def zipped(path: Path, files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return path


def tarred(path: Path, files: dict[str, bytes], mode: str = "w") -> Path:
    with tarfile.open(path, mode) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def taken(path: Path) -> Submission:
    """Read a submission like the grader."""
    return read_submission(path, MINBERT.editable)


def refusal(path: Path) -> str:
    """Return why a submission is refused: one sentence, quickly."""
    started = time.process_time()
    with pytest.raises(SubmissionError) as caught:
        taken(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.isprintable()
    assert len(message.removeprefix(str(path))) < 300
    assert time.process_time() - started < 5
    return message
