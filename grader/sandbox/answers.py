"""Read what a worker answers. Trusted side; everything in an answer is untrusted.

Covered: sizes are checked before anything is parsed, and the JSON is flat and has known keys. The
list of an answer's tensors is read, and then only those that were asked for, each as long as its
shape says; their bytes together are never more than the answer's. Not covered: whether any of it
is true.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grader.worker.protocol import LONGEST, MAX_AXES, Message, ProtocolError, Tensors, parts_of

MAX_JSON = 16 << 10  # bytes; an exception's text has a few hundred
MAX_LIST = 128 << 10  # bytes of the list of tensors; one of 200 parameters takes 20,000
TYPES = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8", "BOOL": "?"}
UNUSED = "grad/"  # gradients of parameters that only the student's model has: allowed, not read
KEYS: Mapping[str, type] = {
    "number": int,
    "status": str,
    "text": str,
    "function": str,
    "where": str,
    "forbidden": str,
    "importing": str,
    "missing": str,
    "lacking": str,
    "through": list,
    "imported": list,
    "torch": str,
    "drew": bool,
    "progress": list,
    "before": dict,
    "after": dict,
}
PLAIN = (str, int, float, bool, type(None))


def parsed(text: bytes) -> dict[str, Any]:
    """Parse a small JSON object.

    Raises:
        ProtocolError: it is something else.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProtocolError("an answer's JSON cannot be read") from error
    if not isinstance(found, dict):
        raise ProtocolError("an answer's JSON is not an object")
    return found


def message_of(text: bytes) -> Message:
    """Parse an answer's JSON: known keys with values of their type, and nothing nested further.

    Raises:
        ProtocolError: it is something else.
    """
    if len(text) > MAX_JSON:
        raise ProtocolError(f"an answer's JSON has {len(text)} bytes")
    found = parsed(text)
    for key, value in found.items():
        inner = list(value.values()) if isinstance(value, dict) else value
        nested = isinstance(inner, list) and not all(isinstance(one, PLAIN) for one in inner)
        if type(value) is not KEYS.get(key) or nested:
            raise ProtocolError("an answer's JSON has another key, or another type")
    return found


def tensor(entry: Any, data: memoryview) -> np.ndarray:
    """Return a tensor from its entry in the list, and the bytes that belong to all of them.

    Raises:
        ProtocolError: the entry is invalid.
    """
    try:
        kind = np.dtype(TYPES[entry["dtype"]])
        shape, (begin, end) = entry["shape"], entry["data_offsets"]
    except (KeyError, TypeError, ValueError) as error:
        raise ProtocolError("a tensor has no type, shape or place") from error
    if type(shape) is not list or len(shape) > MAX_AXES:
        raise ProtocolError("a tensor has too many axes")
    numbers = [*shape, begin, end]
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise ProtocolError("a tensor's shape or place is no list of numbers")
    if any(length > LONGEST for length in shape) or end > len(data):
        raise ProtocolError("a tensor is too long")
    if math.prod(shape) * kind.itemsize != end - begin:
        raise ProtocolError("a tensor is not as long as its shape says")
    try:
        return np.frombuffer(data[begin:end], kind).reshape(shape).copy()
    except ValueError as error:  # it has no values, and axes that multiply to too many
        raise ProtocolError("a tensor is too long") from error


def tensors_of(packed: bytes, asked: frozenset[str] | None) -> Tensors:
    """Read the tensors of an answer, in safetensors form.

    Args:
        asked: the names of those to read; None: all.

    Raises:
        ProtocolError: they are invalid, or include one that nobody asked for.
    """
    if not packed:
        return {}
    length = int.from_bytes(packed[:8], "little")
    if length > min(MAX_LIST, len(packed) - 8):
        raise ProtocolError("an answer's list of tensors is too long")
    listed, data = parsed(packed[8 : 8 + length]), memoryview(packed)[8 + length :]
    made: Tensors = {}
    left = len(data)
    for name, entry in listed.items():
        if asked is None or name in asked:
            made[name] = tensor(entry, data)
            left -= made[name].nbytes
        elif not name.startswith(UNUSED):
            raise ProtocolError("an answer has a tensor that nobody asked for")
    if left < 0:
        raise ProtocolError("an answer's tensors overlap")
    return made


def decode(frame: bytes, asked: frozenset[str] | None = None) -> tuple[Message, Tensors]:
    """Read a whole frame that a worker sent.

    Args:
        asked: the names of the tensors to read; None: all.

    Raises:
        ProtocolError: it is not exactly one valid answer.
    """
    text, packed = parts_of(frame)
    return message_of(text), tensors_of(packed, asked)
