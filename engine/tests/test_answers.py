"""Frames and answers: exactly one frame, small and flat, with only what was asked for."""

import json
import struct
import tracemalloc

import numpy as np
import pytest

from tensormark.sandbox import answers
from tensormark.sandbox.interface import WorkerLostError
from tensormark.worker import protocol
from tensormark.worker.protocol import HEADER, MAGIC, MAX_JSON, MAX_TENSORS, ProtocolError, encode

ASKED = frozenset({"out/x", "out/y"})
BOTH = pytest.mark.parametrize("decode", [protocol.decode, answers.decode], ids=["ask", "answer"])


def frame_of(text, packed=b""):
    return HEADER.pack(MAGIC, len(text), len(packed)) + text + packed


def listing(entries, data=bytes(8), text="{}"):
    """Pack a frame of any list of tensors."""
    header = json.dumps(entries).encode()
    return frame_of(text.encode(), struct.pack("<Q", len(header)) + header + data)


def entry(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


@BOTH
def test_a_frame_survives_a_round_trip(decode):
    arrays = {
        "out/x": np.arange(6, dtype=np.float32).reshape(2, 3).T,
        "out/y": np.array([[1.5]]),
        "ids": np.array([1, 2]),
        "small": np.array([1, 2], dtype=np.int32),
        "half": np.array([1, 2], dtype=np.float16),
        "mask": np.array([True, False]),
        "empty": np.zeros((0, 3), dtype=np.float32),
        "scalar": np.array(2.0),
    }
    sent = {"number": 1, "changed": ["é", 1.5, True, None]}

    message, tensors = decode(encode(sent, arrays))

    assert message == sent
    assert tensors.keys() == arrays.keys()
    assert tensors["scalar"].shape == ()
    for name, value in arrays.items():
        assert tensors[name].dtype == value.dtype
        np.testing.assert_array_equal(tensors[name], value)


def test_frames_are_read_one_by_one_and_refused_wherever_one_is_cut():
    second = encode({"number": 2}, {"x": np.arange(3)})

    assert [message["number"] for message, _ in protocol.frames(second * 2)] == [2, 2]
    for length in range(1, len(second)):
        with pytest.raises(ProtocolError):
            next(protocol.frames(second[:length]))


@pytest.mark.parametrize("lengths", [(MAX_JSON + 1, 0), (0, MAX_TENSORS + 1)])
def test_a_length_that_is_too_large_is_refused(lengths):
    with pytest.raises(ProtocolError, match="too large"):
        protocol.decode(HEADER.pack(MAGIC, *lengths))
    with pytest.raises(ProtocolError):
        encode({"text": "x" * (MAX_JSON + 1)})


LIES = [
    *(entry(shape=shape) for shape in [(2**62, 4), (2**32, 2**32), (-1,), (-1, -2), (2.0,)]),
    *(entry(offsets=offsets) for offsets in [(0, 4), (0, 80), (8, 0), (-8, 0), (0, 8, 16)]),
    *(entry(dtype=dtype) for dtype in ["O", "F8_E4M3", ["F32"]]),
    entry(shape=2),
    {"dtype": "F32"},
    1,
]
REFUSED = [
    encode({"number": 1}) + b"\0",
    *map(frame_of, [b"", b"[]", b"null", b"{", b'{"number": 1} x', b"\xff", b"[" * 100_000]),
    *(listing({"x": lie}) for lie in LIES),
    listing([]),
    frame_of(b"{}", b"\x80\x04cos\nsystem\n(S'touch /tmp/hostile_mark'\ntR."),  # a pickle
    frame_of(b"{}", struct.pack("<Q", 1 << 40) + b"{}"),  # a header of a terabyte
]


@BOTH
@pytest.mark.parametrize("frame", REFUSED, ids=lambda frame: ascii(frame[16:90]))
def test_whatever_is_not_one_object_with_the_tensors_that_it_lists_is_refused(decode, frame):
    with pytest.raises(ProtocolError) as error:
        decode(frame)
    assert "could not be read" not in error.value.says  # as if it were our own fault


# --- what only the grader refuses -------------------------------------------------------------

TEXTS = [
    '{"unknown": 1}',
    '{"status": 1}',
    '{"number": 1.0}',
    '{"number": true}',
    '{"changed": [{}]}',
    '{"progress": [[]]}',
    '{"changed": [NaN]}',
    '{"changed": [1e999]}',
    *('{"number": ' + "9" * digits + "}" for digits in (30, 5000)),
    json.dumps({"text": "x" * answers.MAX_JSON}),
    json.dumps({"changed": ["x"] * 65}),
]
LONG = answers.MAX_LIST + 1
NAMES = ["", "\ud800", "a\x00", "x" * 201, "\u202e"]
MORE_LIES = [
    entry(shape=(True, 2)),
    entry(shape=(1,) * 9 + (2,)),
    entry(shape=(0, *[2**24] * 7), offsets=(0, 0)),
    entry(shape=(0, 2**25), offsets=(0, 0)),
    entry(offsets=(0, "8")),
    entry(dtype="BF16", shape=(4,)),
]


@pytest.mark.parametrize(
    "frame",
    [
        *(frame_of(text.encode()) for text in TEXTS),
        frame_of(b"{}", LONG.to_bytes(8, "little") + b"{}".ljust(LONG)),
        *(listing({name: entry()}) for name in NAMES),
        *(listing({"x": lie}) for lie in MORE_LIES),
    ],
    ids=lambda frame: ascii(frame[16:90]),
)
def test_what_no_worker_sends_is_refused(frame):
    with pytest.raises(ProtocolError) as error:
        answers.decode(frame)
    assert "could not be read" not in error.value.says


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("\ud800", "?"),
        ("a\x00\x1b[2J\nb", "a??[2J?b"),
        ("\u202e\u3164\ufe0f\u2800\U000e0100", "?????"),
        ("e\u0301" + "\u0301" * 50, "e" + "\u0301" * 4),
        ("x" * 5000, "x" * 1000),
    ],
    ids=ascii,
)
def test_a_text_is_one_line_that_can_be_shown_and_encoded(sent, read):
    decoded, _ = answers.decode(encode({"text": sent, "changed": [sent]}))

    assert decoded == {"text": read, "changed": [read[:100]]}


def test_bools_are_true_or_false_whatever_their_bytes_are():
    frame = listing({"out/x": entry("BOOL", (4,), (0, 4))}, b"\x00\x01\x02\xff")

    assert answers.decode(frame)[1]["out/x"].tolist() == [False, True, True, True]


def test_only_tensors_that_were_asked_for_are_read():
    one = {"out/x": entry(), "grad/weights/mine": entry(offsets=(8, 16))}
    text = '{"number": 1, "status": "ok"}'

    assert answers.reply_in(listing(one, bytes(16), text), 1, ASKED).tensors.keys() == {"out/x"}
    with pytest.raises(WorkerLostError):
        answers.reply_in(listing({"out/z": entry()}, text=text), 1, ASKED)


@pytest.mark.parametrize("offsets", [(0, 8), (4, 12), (12, 20)], ids=str)
def test_tensors_that_overlap_or_leave_a_gap_are_refused(offsets):
    both = {"out/x": entry(), "out/y": entry(offsets=offsets)}

    with pytest.raises(ProtocolError, match="overlap"):
        answers.decode(listing(both, bytes(20)), ASKED)


@BOTH
def test_many_names_for_the_same_bytes_are_refused_before_any_is_copied(decode):
    size = 1 << 20
    frame = listing(
        {f"{n}": entry("F32", (size // 4,), (0, size)) for n in range(100)}, bytes(size)
    )
    tracemalloc.start()

    with pytest.raises(ProtocolError):
        decode(frame)

    assert tracemalloc.get_traced_memory()[1] < 3 * size
    tracemalloc.stop()


@pytest.mark.parametrize("claimed", [[3], [3, 7, 9], [3, True], [3, 7.0]], ids=str)
def test_progress_is_two_whole_numbers(claimed):
    assert answers.as_progress([3, 7]) == (3, 7)
    with pytest.raises(WorkerLostError):
        answers.as_progress(claimed)
