"""Read what a worker answers. Trusted side; everything in an answer is untrusted.

This is the one place where what a submission sends becomes values of this process. Whatever reads
them later can take them as they are: texts of one line, printable and of bounded length; finite
numbers; tensors whose names were asked for, or are printable and short. Anything else is a
ProtocolError, which fails the exercise that was asked.

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

from tensormark.files import digest
from tensormark.sandbox.interface import WorkerLostError, printable
from tensormark.trouble import trouble_in
from tensormark.worker.protocol import LONGEST, MAX_AXES, Message, ProtocolError, Tensors, parts_of

MAX_JSON = 16 << 10  # bytes; an exception's text has a few hundred
MAX_LIST = 128 << 10  # bytes of the list of tensors; one of 200 parameters takes 20,000
MAX_TEXT = 1000  # letters of a text that are kept; a worker cuts an exception's at 300
MAX_ITEM = 100  # letters of a text in a list, of the name of a state, or of a state itself
MOST_ITEMS = 64  # of a list, or states; a worker sends about 20
MOST_INTEGER = 1 << 64
MAX_NAME = 200  # letters of a tensor's name; torch has no limit, but no model needs more
TYPES = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8", "BOOL": "u1"}
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
    "shapes": list,
    "torch": str,
    "drew": bool,
    "causes": list,
    "lacks": bool,
    "progress": list,
    "before": dict,
    "after": dict,
}


class UnreadableError(ProtocolError):
    """Reading an answer has raised an exception that nobody expected.

    That is the answer's fault, not the grader's: reading depends on nothing but the answer, opens
    no file and has checked all sizes before. Only a lack of memory is the machine's.
    """

    says = "gave an answer that could not be read"


class NameOfTensorError(ProtocolError):
    """A tensor has a name that no other part of the grader should have to deal with."""

    says = "returned a tensor whose name is empty, too long or not printable"


def refused(constant: str) -> Any:
    """Refuse NaN and Infinity, which Python reads though JSON has none."""
    raise ValueError(f"{constant} is not JSON")


def parsed(text: bytes) -> dict[str, Any]:
    """Parse a small JSON object.

    Raises:
        ProtocolError: it is something else.
    """
    try:
        found = json.loads(text, parse_constant=refused)
    except (ValueError, RecursionError) as error:
        raise ProtocolError("an answer's JSON cannot be read") from error
    if not isinstance(found, dict):
        raise ProtocolError("an answer's JSON is not an object")
    return found


def plain(value: Any, most: int = MAX_ITEM) -> Any:
    """Return a value that is not nested, such that any reader can take it.

    Raises:
        ProtocolError: it is nested, or a number that is infinite or too large.
    """
    if isinstance(value, str):
        return printable(value[:most])
    small = not isinstance(value, float) or math.isfinite(value)
    if not isinstance(value, int | float | None) or not small or abs(value or 0) > MOST_INTEGER:
        raise ProtocolError("an answer's JSON is nested, or has a number that is too large")
    return value


def state(value: Any) -> Any:
    """Return the state before or after a call; a long text by its digest, as it is only compared.

    Raises:
        ProtocolError: it is nested, or a number that is infinite or too large.
    """
    if isinstance(value, str) and len(value) > MAX_ITEM:
        return digest(value.encode("utf-8", "surrogatepass"))
    return plain(value)


def value_of(value: Any) -> Any:
    """Return a value of an answer's JSON: plain, or a list or an object of plain values.

    Raises:
        ProtocolError: it is nested further, or too long.
    """
    if isinstance(value, list | dict) and len(value) > MOST_ITEMS:
        raise ProtocolError("an answer's JSON has too many values")
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {plain(name): state(item) for name, item in value.items()}
    return plain(value, MAX_TEXT)


def message_of(text: bytes) -> Message:
    """Parse an answer's JSON: known keys with values of their type, and nothing nested further.

    Raises:
        ProtocolError: it is something else.
    """
    if len(text) > MAX_JSON:
        raise ProtocolError(f"an answer's JSON has {len(text)} bytes")
    found = parsed(text)
    if any(type(value) is not KEYS.get(key) for key, value in found.items()):
        raise ProtocolError("an answer's JSON has another key, or another type")
    return {key: value_of(value) for key, value in found.items()}


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
        made = np.frombuffer(data[begin:end], kind).reshape(shape)
    except ValueError as error:  # it has no values, and axes that multiply to too many
        raise ProtocolError("a tensor is too long") from error
    # a byte that is neither 0 nor 1 would be a bool that equals neither True nor False
    return made != 0 if entry["dtype"] == "BOOL" else made.copy()


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
        if asked is None and not (0 < len(name) <= MAX_NAME and name.isprintable()):
            raise NameOfTensorError(f"a name has {len(name)} letters, or one is not printable")
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
    try:
        text, packed = parts_of(frame)
        return message_of(text), tensors_of(packed, asked)
    except (ProtocolError, MemoryError):
        raise
    except Exception as error:
        raise UnreadableError(trouble_in(error)) from error


def lost_by(error: ProtocolError) -> WorkerLostError:
    """Return what an answer that cannot be read means for the worker that gave it."""
    trouble = str(error) if isinstance(error, UnreadableError) else ""
    return WorkerLostError(error.says, trouble)
