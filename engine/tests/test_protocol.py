"""Frames: exactly one frame is accepted, and anything else is one kind of error."""

import io
import json
import struct

import numpy as np
import pytest

from tensormark.worker import protocol
from tensormark.worker.protocol import (
    HEADER,
    MAGIC,
    MAX_JSON,
    MAX_TENSORS,
    ProtocolError,
    decode,
    encode,
)

TENSORS = {
    "float": np.arange(6, dtype=np.float32).reshape(2, 3),
    "double": np.array([[1.5]]),
    "ids": np.array([1, 2, 3]),
    "mask": np.array([True, False]),
    "empty": np.zeros((0, 3), dtype=np.float32),
    "scalar": np.array(2.0),
}


def frame_of(text: bytes, packed: bytes = b"") -> bytes:
    return HEADER.pack(MAGIC, len(text), len(packed)) + text + packed


def packed(header: object, data: bytes) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def test_a_frame_survives_a_round_trip() -> None:
    message, tensors = decode(encode({"number": 1, "text": "é"}, TENSORS))

    assert message == {"number": 1, "text": "é"}
    assert tensors.keys() == TENSORS.keys()
    for name, value in TENSORS.items():
        assert tensors[name].dtype == value.dtype
        np.testing.assert_array_equal(tensors[name], value)


def test_the_order_of_axes_is_kept() -> None:
    transposed = np.arange(6, dtype=np.float32).reshape(2, 3).T

    _, tensors = decode(encode({}, {"x": transposed}))

    np.testing.assert_array_equal(tensors["x"], transposed)


def test_a_number_gets_an_axis() -> None:
    _, tensors = decode(encode({}, {"x": np.array(2.0)}))

    assert tensors["x"].shape == (1,)


def test_a_stream_of_frames_is_read_one_by_one() -> None:
    stream = io.BytesIO(encode({"number": 1}) + encode({"number": 2}, {"x": TENSORS["ids"]}))

    assert [message["number"] for message, _ in protocol.frames(stream)] == [1, 2]


def test_a_truncated_frame_is_refused_wherever_it_is_cut() -> None:
    frame = encode({"number": 1}, {"x": np.arange(3)})

    for length in range(1, len(frame)):
        with pytest.raises(ProtocolError):
            next(protocol.frames(io.BytesIO(frame[:length])))
        with pytest.raises(ProtocolError):
            decode(frame[:length])


@pytest.mark.parametrize(
    ("text_length", "tensors_length"),
    [(MAX_JSON + 1, 0), (0, MAX_TENSORS + 1), (2**32 - 1, 2**64 - 1)],
)
def test_a_length_that_is_too_large_is_refused_before_it_is_read(
    text_length: int, tensors_length: int
) -> None:
    class Endless(io.BytesIO):
        """A stream that would give as much as it is asked for."""

        def read(self, size: int | None = -1) -> bytes:
            assert size <= HEADER.size
            return super().read(size)

    header = HEADER.pack(MAGIC, text_length, tensors_length)

    with pytest.raises(ProtocolError, match="too large"):
        next(protocol.frames(Endless(header)))


TEXTS = [
    b"",
    b"[]",
    b"1",
    b"null",
    b"{",
    b'{"a": 1} x',
    b"\xff",
    b'{"a":' * 100_000,
    b"[" * 100_000,
]
# of a tensor: its type, its shape, and its place among eight bytes
LIES = [
    ("F32", [2], [0, 4]),
    ("F32", [2**32, 2**32], [0, 8]),
    ("F32", [-1], [0, 8]),
    ("F32", [2], [0, 800]),
    ("F32", [2], [8, 0]),
    ("BF16", [4], [0, 8]),
    ("F8_E4M3", [8], [0, 8]),
    ("O", [1], [0, 8]),
]
HEADERS = [{"x": dict(zip(("dtype", "shape", "data_offsets"), lie, strict=True))} for lie in LIES]
REFUSED = [
    encode({"number": 1}) + b"\0",
    *map(frame_of, TEXTS),
    *(frame_of(b"{}", packed(header, bytes(8))) for header in (*HEADERS, {"x": 1}, [])),
    frame_of(b"{}", b"\x80\x04cos\nsystem\n(S'touch /tmp/hostile_mark'\ntR."),  # a pickle
    frame_of(b"{}", struct.pack("<Q", 1 << 40) + b"{}"),  # a header of a terabyte
]


@pytest.mark.parametrize("frame", REFUSED, ids=lambda frame: ascii(frame[16:90]))
def test_whatever_is_not_one_object_with_the_tensors_that_it_lists_is_refused(frame: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode(frame)


def test_a_message_that_is_too_large_is_not_sent() -> None:
    with pytest.raises(ProtocolError):
        encode({"text": "x" * (MAX_JSON + 1)})
