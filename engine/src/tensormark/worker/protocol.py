"""The messages between grader and worker: frames of a small JSON object and named tensors.

A frame is a fixed header (magic, length of the JSON, length of the tensors), the JSON in UTF-8, and
the tensors in safetensors format. Lengths are checked before anything is read, JSON and safetensors
are parsed without running code, and any problem with a frame is a ProtocolError.

Covered: size and format of frames. Not covered: the content of a worker's frame; it is untrusted,
and sandbox/answers.py reads it within tighter limits.
"""

import json
import struct
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

MAGIC = b"mBF1"
HEADER = struct.Struct("<4sIQ")  # magic, bytes of JSON, bytes of tensors
MAX_JSON = 8 << 20  # of a request; JSON may take 6 bytes for a byte of a submission's sources
MAX_TENSORS = 256 << 20  # enough for a real model's largest weights and their gradients
AGAIN = " again"  # ends the name of an output of a second call
MAX_AXES = 8  # of a tensor in an answer
LONGEST = 1 << 24  # an axis in an answer

# the state that a call must leave unchanged, as messages name it
FILTERS = "the warning filters"
SEEDED = ("the random seed", "the seed of Python's random", "the seed of numpy.random")
ARGUMENTS = "the arguments"
GENERATORS = "the global random generators"
STATE = (
    "the default dtype",
    "the default device",
    "the gradient mode",
    "the number of threads",
    "anomaly detection",
    "the setting for deterministic algorithms",
    "the precision of matrix multiplications",
    "cuDNN's flags",
    "autocast",
    FILTERS,
    *SEEDED,
    "the model's modules",
    "the model's training mode",
    "the settings of the model's modules",
    "the model's weights",
    "the gradients of the model's weights",
    "the model's buffers",
    "the model's configuration",
    ARGUMENTS,
    GENERATORS,
)

_dumps = json.dumps  # as it is now: a submission may replace it

Message = dict[str, Any]
Tensors = dict[str, np.ndarray]


class ProtocolError(Exception):
    """An invalid frame; the worker that sent it can no longer be trusted.

    Attributes:
        says: what the submission did, in words for the student.
    """

    says = "wrote into the grader's channel"


class _TooLargeError(ProtocolError):
    """A frame is larger than the answer to a request may be."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"the frame has more than {limit} bytes")
        self.says = f"returned more than {limit >> 20} MiB"


def encode(message: Mapping[str, Any], tensors: Mapping[str, np.ndarray] | None = None) -> bytes:
    """Pack a JSON object and tensors into one frame.

    Raises:
        ProtocolError: a part is too large for a frame.
    """
    text = _dumps(message).encode()
    # safetensors writes raw memory, so arrays must be contiguous
    arrays = {name: np.ascontiguousarray(array) for name, array in (tensors or {}).items()}
    packed = save(arrays) if arrays else b""
    if len(text) > MAX_JSON or len(packed) > MAX_TENSORS:
        raise ProtocolError(f"too large for a frame: {len(text)} + {len(packed)} bytes")
    return HEADER.pack(MAGIC, len(text), len(packed)) + text + packed


def _decode_header(header: bytes) -> tuple[int, int]:
    """Check a header; return how many bytes of JSON and of tensors follow.

    Raises:
        ProtocolError: the magic is wrong, or a length is larger than a frame may carry.
    """
    if len(header) != HEADER.size:
        raise ProtocolError("the stream ended inside a header")
    magic, text_length, tensors_length = HEADER.unpack(header)
    if magic != MAGIC:
        raise ProtocolError("this is not a frame")
    if text_length > MAX_JSON or tensors_length > MAX_TENSORS:
        raise ProtocolError(f"the frame is too large: {text_length} + {tensors_length} bytes")
    return text_length, tensors_length


def parts_of(frame: bytes) -> tuple[bytes, bytes]:
    """Split a whole frame into its JSON and its tensors.

    Raises:
        ProtocolError: these bytes are not exactly one frame.
    """
    text_length, tensors_length = _decode_header(frame[: HEADER.size])
    middle = HEADER.size + text_length
    text = frame[HEADER.size : middle]
    packed = frame[middle:]
    if len(text) != text_length or len(packed) != tensors_length:
        raise ProtocolError("the frame's length does not match its header")
    return text, packed


def decode(frame: bytes) -> tuple[Message, Tensors]:
    """Parse a whole frame.

    Raises:
        ProtocolError: these bytes are not exactly one frame, its JSON is not an object, or its
            tensors are invalid.
    """
    text, packed = parts_of(frame)
    try:
        message = json.loads(text)
        tensors = load(packed) if packed else {}
    # numpy raises TypeError or KeyError for an unknown type, json RecursionError for deep nesting
    except (ValueError, SafetensorError, TypeError, KeyError, RecursionError) as error:
        raise ProtocolError(f"the frame cannot be read: {error}") from error
    if not isinstance(message, dict):
        raise ProtocolError("the frame's JSON is not an object")
    return message, tensors


def _read_exactly(stream: BinaryIO, length: int) -> bytes:
    """Read `length` bytes, or fewer if the stream ends."""
    parts = []
    while length > 0 and (part := stream.read(min(length, 1 << 20))):
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def read_bytes(stream: BinaryIO, max_length: int = MAX_JSON + MAX_TENSORS) -> bytes | None:
    """Read the bytes of one frame; None if the stream has ended.

    Args:
        max_length: how many bytes may follow the header.

    Raises:
        ProtocolError: the stream ended inside the frame, or its lengths are invalid.
    """
    header = _read_exactly(stream, HEADER.size)
    if not header:
        return None
    length = sum(_decode_header(header))
    if length > max_length:
        raise _TooLargeError(max_length)
    body = _read_exactly(stream, length)
    if len(body) < length:
        raise ProtocolError("the stream ended inside a frame")
    return header + body


def frames(stream: BinaryIO) -> Iterator[tuple[Message, Tensors]]:
    """Read frames until the stream ends.

    Raises:
        ProtocolError: the stream ended inside a frame, or a frame is invalid.
    """
    while (frame := read_bytes(stream)) is not None:
        yield decode(frame)
