"""Messages and answers: exactly one message, small and flat, and nothing else."""

import json
import struct
import tracemalloc

import numpy as np
import pytest

from tensormark.sandbox import answers
from tensormark.sandbox.interface import WorkerLostError
from tensormark.worker import protocol
from tensormark.worker.protocol import ProtocolError, encode

BOTH = pytest.mark.parametrize("decode", [protocol.decode, answers.decode], ids=["ask", "answer"])


def frame_of(text, data=b""):
    return struct.pack("<Q", len(text)) + text + data


def about(text):
    """Pack a frame of any JSON object, without tensors."""
    return frame_of(b"[%s, {}]" % text)


def listing(entries, data=bytes(8)):
    """Pack a frame of any list of tensors."""
    return frame_of(b'[{"number": 1, "status": "ok"}, %s]' % json.dumps(entries).encode(), data)


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
    sent = {"number": 1, "changed": ["é"], "drew": True}

    message, tensors = decode(encode(sent, arrays))

    assert message == sent
    assert tensors.keys() == arrays.keys()
    assert tensors["scalar"].shape == ()
    for name, value in arrays.items():
        assert tensors[name].dtype == value.dtype
        np.testing.assert_array_equal(tensors[name], value)


@BOTH
def test_a_frame_is_refused_wherever_it_is_cut(decode):
    frame = encode({"number": 2}, {"x": np.arange(3)})

    for length in range(len(frame)):
        with pytest.raises(ProtocolError):
            decode(frame[:length])


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
    *map(frame_of, [b"", b"[]", b"null", b"{}", b"[{}]", b"[{}, {}, {}]", b"\xff", b"[" * 100_000]),
    *map(about, [b"[]", b"null", b"{", b'{"number": 1} x']),
    *(listing({"x": lie}) for lie in LIES),
    listing([]),
    b"\x80\x04cos\nsystem\n(S'touch /tmp/hostile_mark'\ntR.",  # a pickle
    struct.pack("<Q", 1 << 40) + b"[{}, {}]",  # a list of a terabyte
]


@BOTH
@pytest.mark.parametrize("frame", REFUSED, ids=lambda frame: ascii(frame[8:90]))
def test_whatever_is_not_one_object_with_the_tensors_that_it_lists_is_refused(decode, frame):
    with pytest.raises(ProtocolError):
        decode(frame)


# --- what only the grader refuses -------------------------------------------------------------

TEXTS = [
    '{"unknown": 1}',
    '{"status": 1}',
    '{"number": 1.0}',
    '{"number": true}',
    '{"changed": [{}]}',
    '{"changed": ["a", 1]}',
    '{"drew": NaN}',
    '{"number": ' + "9" * 5000 + "}",
    json.dumps({"text": "x" * answers.MAX_JSON}),
    json.dumps({"changed": ["x"] * 65}),
]
LONG = answers.MAX_JSON + 1
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
        *(about(text.encode()) for text in TEXTS),
        frame_of(b"[{}, {}]".ljust(LONG)),
        *(listing({"x": lie}) for lie in MORE_LIES),
    ],
    ids=lambda frame: ascii(frame[8:90]),
)
def test_what_no_worker_sends_is_refused(frame):
    with pytest.raises(ProtocolError):
        answers.decode(frame)


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


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_tensor_whose_name_cannot_be_shown_is_refused_and_such_a_gradient_left_out(name):
    with pytest.raises(WorkerLostError):
        answers.reply_in(listing({name: entry()}), 1)

    entries = {f"grad/{name}{'x' * answers.MAX_NAME}": entry()}

    assert answers.reply_in(listing(entries), 1).tensors == {}


def test_a_tensor_that_nobody_asked_for_is_refused_and_a_gradient_left_out():
    asked = frozenset({"out/x", "grad/x"})
    with pytest.raises(WorkerLostError):
        answers.reply_in(listing({"out/y": entry()}), 1, asked)

    entries = {"grad/weights/own": entry(), "grad/x": entry(offsets=(8, 16))}
    reply = answers.reply_in(listing(entries, bytes(16)), 1, asked)

    assert reply.tensors.keys() == {"grad/x"}


def test_an_answer_to_another_request_is_refused():
    with pytest.raises(WorkerLostError):
        answers.reply_in(listing({"out/x": entry()}), 2)


@pytest.mark.parametrize("offsets", [(0, 8), (4, 12), (12, 20)], ids=str)
def test_tensors_that_overlap_or_leave_a_gap_are_refused(offsets):
    both = {"out/x": entry(), "out/y": entry(offsets=offsets)}

    with pytest.raises(ProtocolError, match="overlap"):
        answers.decode(listing(both, bytes(20)))


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
