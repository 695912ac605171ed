"""The messages between grader and worker: a small JSON object and named tensors.

A message is packed like a file of safetensors: the length of its JSON, the JSON, and the tensors'
values. The JSON is a pair: the object, and what safetensors lists of each tensor.

Covered: the form of a message, before a tensor of it is copied. Not covered: the content of a
worker's message; it is untrusted, and sandbox/answers.py reads it within tighter limits.
"""

import json
import math
import struct
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

LENGTH = struct.Struct("<Q")  # of the JSON
AGAIN = " again"  # ends the name of an output of a second call
MAX_AXES = 8  # of a tensor
LONGEST = 1 << 24  # an axis of a tensor
# of a tape; see tape.py
TAPE = ("tape/records", "tape/prints", "tape/parents")
LINES = ("tape/changed", "tape/raised")  # the places to blame for these kinds of mismatch
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

NEW_WEIGHTS = "new weights"  # stands for what creates parameters in a call
NOT_ALLOWED = "{} is not allowed here"  # what an exercise or all of them forbid

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
    """An invalid message; the worker that sent it can no longer be trusted."""


def encode(message: Mapping[str, Any], tensors: Mapping[str, np.ndarray] | None = None) -> bytes:
    """Pack a JSON object and tensors. The package safetensors takes ten times longer.

    Raises:
        KeyError: a tensor is of another type than TYPES.
    """
    entries = {}
    parts = []
    end = 0
    for name, tensor in (tensors or {}).items():
        begin = end
        end += tensor.nbytes
        kind = TYPE_NAMES[tensor.dtype.str]
        entries[name] = {"dtype": kind, "shape": tensor.shape, "data_offsets": (begin, end)}
        parts.append(tensor.tobytes())
    text = _dumps([message, entries]).encode()
    return b"".join([LENGTH.pack(len(text)), text, *parts])


def _view(entry: Any, begin: int, data: memoryview) -> np.ndarray:
    """Return a tensor without copying it: for a bool, its bytes.

    Args:
        entry: its entry in the list: dtype, shape and offsets in the data.
        begin: where it must begin.

    Raises:
        ProtocolError: the entry is invalid.
    """
    try:
        kind = np.dtype(TYPES[entry["dtype"]])
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


def decode(packed: bytes, max_json: int = sys.maxsize) -> tuple[Message, Tensors]:
    """Unpack a message.

    Tensors are copied once it is known that each begins where the one before it ends.

    Args:
        max_json: how many bytes its JSON may have.

    Raises:
        ProtocolError: these bytes are not exactly one message.
    """
    end = LENGTH.size + int.from_bytes(packed[: LENGTH.size], "little")
    if end > min(LENGTH.size + max_json, len(packed)):
        raise ProtocolError("a message's JSON is too long")
    try:
        message, entries = json.loads(packed[LENGTH.size : end])
    except (ValueError, TypeError, RecursionError) as error:
        raise ProtocolError("a message's JSON cannot be read") from error
    if type(message) is not dict or type(entries) is not dict:
        raise ProtocolError("a message's JSON is not a pair of objects")
    data = memoryview(packed)[end:]
    views = {}
    begin = 0
    for name, entry in entries.items():
        views[name] = _view(entry, begin, data)
        begin += views[name].nbytes
    if begin != len(data):
        raise ProtocolError("there is more than the tensors of the list")
    return message, {name: v.astype(TYPES[entries[name]["dtype"]]) for name, v in views.items()}
