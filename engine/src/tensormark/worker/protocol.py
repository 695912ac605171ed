"""The messages between grader and worker: frames of a small JSON object and named tensors.

A frame is a fixed header (magic, length of the JSON, length of the tensors), the JSON in UTF-8, and
the tensors in safetensors format: the length of a list, the list in JSON, and the values. Lengths
are checked before anything is read, and any problem with a frame is a ProtocolError.

Covered: size and format of frames. Not covered: the content of a worker's frame; it is untrusted,
and sandbox/answers.py reads it within tighter limits.
"""

import json
import math
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

MAGIC = b"mBF1"
HEADER = struct.Struct("<4sIQ")  # magic, bytes of JSON, bytes of tensors
LENGTH = struct.Struct("<Q")  # of the list of tensors
MAX_JSON = 8 << 20  # of a request; JSON may take 6 bytes for a byte of a submission's sources
MAX_TENSORS = 256 << 20  # enough for a real model's largest weights and their gradients
AGAIN = " again"  # ends the name of an output of a second call
MAX_AXES = 8  # of a tensor
LONGEST = 1 << 24  # an axis of a tensor
# of a tape; see tape.py
TAPE = ("tape/records", "tape/prints", "tape/parents")
MAX_RECORDS = 1000
# what a record does: a scalar, or an array of whole numbers, tells, too; a whole stands for all
# rounds of a loop, or for an input; zeros that are filled later and a loop's only round are excused
SAYS_NOTHING, TELLS, DECIDES, IS_SCALAR, WHOLE, EXCUSED = range(6)
COMMON = 5  # numbers of a print that do not depend on the order
PRINT = COMMON + 2  # one that does, and whether a gradient is cut off
PLACE = 4  # numbers of a place: file, line, and the first and last line of its function
WHERE = PLACE + 2  # of a record: its place, whether it tells, the number of axes
# safetensors' names of types, and numpy's
TYPES = {"BOOL": "|b1", "U8": "|u1", "F16": "<f2", "F32": "<f4", "F64": "<f8"}
TYPES |= {"I8": "|i1", "I16": "<i2", "I32": "<i4", "I64": "<i8"}
TYPE_NAMES = {numpy: name for name, numpy in TYPES.items()}

NOT_ALLOWED = "{} is not allowed in this assignment"  # what an exercise or all of them forbid

# the state that a call must leave unchanged, as messages name it
GPU = "a GPU"  # that code asks for while it is imported
FILTERS = "the warning filters"
SEEDED = ("the random seed", "the seed of Python's random", "the seed of numpy.random")
ARGUMENTS = tuple(f"argument {number}" for number in range(20))  # that are plain values
GENERATORS = "the global random generators"
STATE = (
    "the default dtype",
    "the default device",
    GPU,
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
    *ARGUMENTS,
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


def save(tensors: Mapping[str, np.ndarray]) -> bytes:
    """Pack tensors. The package safetensors takes ten times longer.

    Raises:
        KeyError: a tensor is of another type than TYPES.
    """
    entries = {}
    parts = []
    end = 0
    for name, tensor in tensors.items():
        begin = end
        end += tensor.nbytes
        kind = TYPE_NAMES[tensor.dtype.str]
        entries[name] = {"dtype": kind, "shape": tensor.shape, "data_offsets": (begin, end)}
        parts.append(tensor.tobytes())
    listed = _dumps(entries).encode()
    return b"".join([LENGTH.pack(len(listed)), listed, *parts])


def encode(message: Mapping[str, Any], tensors: Mapping[str, np.ndarray] | None = None) -> bytes:
    """Pack a JSON object and tensors into one frame.

    Raises:
        ProtocolError: a part is too large for a frame.
    """
    text = _dumps(message).encode()
    packed = save(tensors) if tensors else b""
    if len(text) > MAX_JSON or len(packed) > MAX_TENSORS:
        raise ProtocolError(f"too large for a frame: {len(text)} + {len(packed)} bytes")
    return HEADER.pack(MAGIC, len(text), len(packed)) + text + packed


def _decode_header(header: bytes) -> tuple[int, int]:
    """Check a header; return how many bytes of JSON and of tensors follow.

    Raises:
        ProtocolError: the magic is wrong, or a length is larger than a frame may carry.
    """
    if len(header) != HEADER.size:
        raise ProtocolError("a frame ends inside its header")
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


def parse(text: bytes, constant: Callable[[str], Any] | None = None) -> dict[str, Any]:
    """Parse a JSON object.

    Args:
        constant: returns the value of NaN or Infinity, which JSON does not have.

    Raises:
        ProtocolError: it is something else.
    """
    try:
        value = json.loads(text, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        raise ProtocolError("a frame's JSON cannot be read") from error
    if not isinstance(value, dict):
        raise ProtocolError("a frame's JSON is not an object")
    return value


def _view(entry: Any, begin: int, data: memoryview, types: Mapping[str, str]) -> np.ndarray:
    """Return a tensor without copying it: for a bool, its bytes.

    Args:
        entry: its entry in the list: dtype, shape and offsets in the data.
        begin: where it must begin.

    Raises:
        ProtocolError: the entry is invalid.
    """
    try:
        kind = np.dtype(types[entry["dtype"]])
        shape = entry["shape"]
        start, end = entry["data_offsets"]
    except (KeyError, TypeError, ValueError) as error:
        raise ProtocolError("a tensor has no type, shape or offsets") from error
    if type(shape) is not list or len(shape) > MAX_AXES:
        raise ProtocolError("a tensor has too many axes")
    if not all(type(size) is int and size >= 0 for size in [*shape, start, end]):
        raise ProtocolError("a tensor's shape or offsets are not a list of numbers")
    if start != begin:
        raise ProtocolError("tensors overlap, or leave a gap")
    if any(length > LONGEST for length in shape) or end > len(data):
        raise ProtocolError("a tensor is too long")
    if math.prod(shape) * kind.itemsize != end - begin:
        raise ProtocolError("a tensor is not as long as its shape says")
    # a byte that is neither 0 nor 1 would be a bool that equals neither True nor False
    stored = np.dtype(np.uint8) if kind == np.bool_ else kind
    try:
        return np.frombuffer(data[begin:end], stored).reshape(shape)
    except ValueError as error:  # no values, but axes whose product is too large for numpy
        raise ProtocolError("a tensor is too long") from error


def tensors_in(
    packed: bytes,
    read: Callable[[str], bool] = lambda name: True,
    types: Mapping[str, str] = TYPES,
    max_list: int = MAX_JSON,
) -> Tensors:
    """Return copies of tensors, once it is known that each begins where the one before it ends.

    Args:
        read: says which of them to return, by name.
        types: those that they may have.
        max_list: how many bytes their list may have.

    Raises:
        ProtocolError: the list, or an entry in it, is invalid.
    """
    if not packed:
        return {}
    end = LENGTH.size + int.from_bytes(packed[: LENGTH.size], "little")
    if end > min(LENGTH.size + max_list, len(packed)):
        raise ProtocolError("a frame's list of tensors is too long")
    entries = parse(packed[LENGTH.size : end])
    data = memoryview(packed)[end:]
    views = {}
    begin = 0
    for name, entry in entries.items():
        view = _view(entry, begin, data, types)
        begin += view.nbytes
        if read(name):
            views[name] = view
    if begin != len(data):
        raise ProtocolError("there is more than the tensors of the list")
    return {name: view.astype(types[entries[name]["dtype"]]) for name, view in views.items()}


def decode(frame: bytes) -> tuple[Message, Tensors]:
    """Parse a whole frame.

    Raises:
        ProtocolError: these bytes are not exactly one frame, its JSON is not an object, or its
            tensors are invalid.
    """
    text, packed = parts_of(frame)
    return parse(text), tensors_in(packed)


def frames(content: bytes) -> Iterator[tuple[Message, Tensors]]:
    """Parse frames that follow one another.

    Raises:
        ProtocolError: one is invalid.
    """
    begin = 0
    while begin < len(content):
        end = begin + HEADER.size + sum(_decode_header(content[begin : begin + HEADER.size]))
        yield decode(content[begin:end])
        begin = end
