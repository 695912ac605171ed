"""Random frames, answers, reply buffers and archives: each is read, or refused, quickly.

FUZZ=long tries many more of each.
"""

import itertools
import mmap
import os
import random
import time
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tensormark.intake.submission import SubmissionError, read_submission
from tensormark.sandbox import answers
from tensormark.sandbox.interface import WorkerLostError
from tensormark.worker import protocol
from tensormark.worker.protocol import ProtocolError, encode
from tensormark.worker.reply_buffer import ReplyBuffer, size
from testkit.packing import EDITABLE, tarred, zipped

LONG = os.environ.get("FUZZ") == "long"
FRAMES = 100_000 if LONG else 2_000
ARCHIVES = 10_000 if LONG else 300
EXAMPLES = settings(
    max_examples=5_000 if LONG else 150,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
SOURCE = b"import torch\n" + b"# a line of a submission\n" * 20
LETTERS = st.text() | st.text(st.characters(categories=("Cs", "Cc", "Cf", "Mn", "Zl")))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | LETTERS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
GOOD = {"number": 1, "status": "ok"}
ANSWER_KEYS = st.sampled_from(sorted(answers.KEYS)) | st.text()
SPACE = 128  # bytes for each answer of a reply buffer
DECODERS = pytest.mark.parametrize(
    "decode", [protocol.decode, answers.decode], ids=["ask", "answer"]
)

pytestmark = pytest.mark.timeout(3600 if LONG else 300)


def damage(content, rng, other):
    """Return the content with a part replaced by random bytes, by nothing, or by another content.

    The part may also be repeated, or set to bytes of 255.
    """
    at = rng.randrange(len(content))
    end = at + rng.choice((1, 1, 2, 4, 8, rng.randrange(1, 64), len(content)))
    part = content[at:end]
    parts = (rng.randbytes(len(part)), b"", part * rng.randrange(2, 20), b"\xff" * len(part), other)
    return content[:at] + rng.choice(parts) + content[end:]


def is_accepted(decode, frame):
    """Return whether a frame can be decoded; any error but a ProtocolError fails the test."""
    try:
        message, tensors = decode(frame)
    except ProtocolError:
        return False
    assert isinstance(message, dict)
    for value in tensors.values():
        assert value.nbytes <= len(frame)
        assert value.dtype.kind in "biuf"
    return True


@DECODERS
def test_a_damaged_frame_is_an_error_or_a_frame(decode):
    rng = random.Random(0)
    arrays = {"out/output": np.arange(12, dtype=np.float32).reshape(3, 4), "ids": np.arange(3)}
    frame = encode({"number": 1, "status": "ok"}, arrays)
    other = encode({"number": 2})
    start = time.process_time()

    accepted = sum(is_accepted(decode, damage(frame, rng, other)) for _ in range(FRAMES))

    assert accepted < FRAMES
    assert time.process_time() - start < 60 + FRAMES / 100


@EXAMPLES
@given(st.dictionaries(ANSWER_KEYS, VALUES, max_size=5))
def test_any_answer_is_a_reply_or_a_lost_worker(fields):
    try:
        reply = answers.reply_in(encode(GOOD | fields), 1)
    except WorkerLostError:
        return
    lists = [value for value in reply.message.values() if isinstance(value, list)]
    texts = [reply.text, *itertools.chain.from_iterable(lists)]
    assert reply.status in ("ok", "not written", "error")
    assert all(text.isprintable() and len(text) <= 1000 for text in texts)


@EXAMPLES
@given(st.binary(max_size=300), st.integers(0, 100), st.integers(0, 2**64 - 1))
def test_any_reply_buffer_has_answers_or_an_error(content, at, length):
    memory = mmap.mmap(-1, size(2, SPACE))
    reply_buffer = ReplyBuffer(memory, SPACE)
    memory[at : at + len(content)] = content
    reply_buffer.put(reply_buffer.start_of(1), length)

    for slot in range(3):
        try:
            frame = reply_buffer.read(slot)
            answer = None if frame is None else answers.decode(frame)
        except ProtocolError:
            continue
        assert answer is None or isinstance(answer[0], dict)


def archives_of_each_kind(path):
    """Return an archive of each kind, to be damaged; the end of a tar is only padding."""
    files = {"work/main.py": SOURCE, "work/notes.txt": b"hello" * 50}
    methods = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    modes = ("w", "w:gz")
    zips = [zipped(path, files, method).read_bytes() for method in methods]
    return zips + [tarred(path, files, mode).read_bytes()[:4096] for mode in modes]


def refusal(path):
    """Return why a submission is refused; "" if it is read."""
    try:
        read_submission(path, EDITABLE)
    except SubmissionError as error:
        return str(error)
    return ""


def test_a_damaged_archive_is_refused_with_one_sentence_or_read(tmp_path):
    rng = random.Random(2)
    path = tmp_path / "work"
    archives = archives_of_each_kind(path)
    for number in range(ARCHIVES):
        path.write_bytes(damage(archives[number % len(archives)], rng, rng.choice(archives)))
        start = time.process_time()

        why = refusal(path)

        assert "\n" not in why
        assert len(why) < 400 + len(str(path))
        assert time.process_time() - start < 10
