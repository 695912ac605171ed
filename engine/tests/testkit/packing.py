"""Packs archives for the tests of intake, and reads them or returns why one is refused."""

import io
import tarfile
import time
import zipfile

import pytest

from tensormark.files import digest
from tensormark.intake.submission import Part, SubmissionError, read_parts, read_submission

EDITABLE = ("main.py", "optimizer.py", "pretraining.py", "transformer.py")  # of a submission
SOURCE = b"import torch\n"
MARKS = "".join(map(chr, (0x334, 0x327, 0x31B, 0x316, 0x301)))
GIVEN = dict.fromkeys(("config.py", "utils.py"), digest(b""))  # files that are not students'


def zipped(path, files, method=zipfile.ZIP_DEFLATED):
    """Pack files, whose contents are given by their names; return the path, as the next do."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return path


def tarred(path, files, mode="w"):
    with tarfile.open(path, mode) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def unpacked(path, files):
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path


def side_by_side(path, files):
    """Save files as a platform does that gives each top-level name a separate folder."""
    tops = sorted({name.split("/")[0] for name in files})
    unpacked(path, {f"{tops.index(n.split('/')[0])}/{n}": text for n, text in files.items()})
    return [Part.under(path, path / str(number) / name) for number, name in enumerate(tops)]


def taken(hand_in, given=GIVEN):
    read = read_parts if isinstance(hand_in, list) else read_submission
    return read(hand_in, EDITABLE, given)


def refusal(path):
    """Return why a submission is refused, which must be one sentence, given quickly."""
    started = time.process_time()
    with pytest.raises(SubmissionError) as caught:
        taken(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.isprintable()
    assert len(message.removeprefix(str(path))) < 300
    assert time.process_time() - started < 5
    return message
