"""Read a worker's answers. Trusted side; everything in an answer is untrusted.

Only here does what a submission sends become values in this process. Code that uses them can rely
on this: a text is one printable line of bounded length, a number is finite, and a tensor's name was
requested, or is printable and short. Anything else is a ProtocolError, which fails the exercise.

Covered: sizes are checked before anything is parsed, and the JSON is flat and has known keys. The
tensors that an answer lists are as long as their shapes say, and do not overlap; only requested
ones are copied, once that is known of all. Not covered: whether any of it is true.
"""

import math
from collections.abc import Mapping
from typing import Any

from tensormark.sandbox.interface import Reply, WorkerLostError, printable
from tensormark.usage import trouble_in
from tensormark.worker.protocol import (
    TYPES,
    Message,
    ProtocolError,
    Tensors,
    parse,
    parts_of,
    tensors_in,
)

MAX_JSON = 16 << 10  # bytes; an exception's text takes a few hundred
MAX_LIST = 128 << 10  # bytes of the list of tensors; one of 200 parameters takes 20,000
MAX_TEXT = 1000  # characters of a text that are kept; a worker cuts an exception's at 300
MAX_ITEM = 100  # characters of a text in a list
MAX_ITEMS = 64  # of a list; a worker sends about 20
MAX_INTEGER = 1 << 64
MAX_STEPS = 10**9
MAX_NAME = 200  # characters of a tensor's name; torch has no limit, but no model needs more
ANSWERED = {name: TYPES[name] for name in ("U8", "F16", "F32", "F64", "I32", "I64", "BOOL")}
UNUSED = "grad/"  # gradients of parameters that only the student's model has: allowed, not read
KEYS: Mapping[str, type] = {
    "number": int,
    "status": str,
    "text": str,
    "function": str,
    "where": str,
    "forbidden": str,
    "refused": str,
    "importing": str,
    "missing": str,
    "lacking": str,
    "imported": list,
    "matched": list,
    "lacking_parts": list,
    "shapes": list,
    "drew": bool,
    "same": bool,
    "causes": list,
    "lacks": bool,
    "progress": list,
    "changed": list,
    "backward": str,
    "changed_at": list,
    "raised_at": list,
}


class _UnreadableError(ProtocolError):
    """Reading an answer raised an unexpected exception.

    That is blamed on the answer, not on the grader: reading depends on nothing but the answer,
    opens no file and checks all sizes first. Only a lack of memory is the machine's fault.
    """

    says = "gave an answer that could not be read"


class TensorNameError(ProtocolError):
    """A tensor has a name that the rest of the grader should not have to handle."""

    says = "returned a tensor whose name is empty, too long or not printable"


def _refuse(constant: str) -> Any:
    """Refuse NaN and Infinity, which Python's parser accepts although JSON has neither."""
    raise ValueError(f"{constant} is not JSON")


def _plain(value: Any, max_length: int = MAX_ITEM) -> Any:
    """Return a value that is not nested; text is made printable and truncated.

    Raises:
        ProtocolError: it is nested, or a number that is infinite or too large.
    """
    if isinstance(value, str):
        return printable(value[:max_length])
    finite = not isinstance(value, float) or math.isfinite(value)
    if not isinstance(value, int | float | None) or not finite or abs(value or 0) > MAX_INTEGER:
        raise ProtocolError("an answer's JSON is nested, or has a number that is too large")
    return value


def _value(value: Any) -> Any:
    """Return a value of an answer's JSON: plain, or a list of plain values.

    Raises:
        ProtocolError: it is nested further, or too long.
    """
    if not isinstance(value, list):
        return _plain(value, MAX_TEXT)
    if len(value) > MAX_ITEMS:
        raise ProtocolError("an answer's JSON has too many values")
    return [_plain(item) for item in value]


def message_of(text: bytes) -> Message:
    """Parse an answer's JSON: known keys with values of their type, and nothing nested further.

    Raises:
        ProtocolError: it is something else.
    """
    if len(text) > MAX_JSON:
        raise ProtocolError(f"an answer's JSON has {len(text)} bytes")
    message = parse(text, _refuse)
    if any(type(value) is not KEYS.get(key) for key, value in message.items()):
        raise ProtocolError("an answer's JSON has another key, or another type")
    return {key: _value(value) for key, value in message.items()}


def _tensors(packed: bytes, tensor_names: frozenset[str] | None) -> Tensors:
    """Read the tensors of an answer, in the safetensors format.

    Args:
        tensor_names: those to read; None: all.

    Raises:
        ProtocolError: they are invalid, or include one that was not requested.
    """

    def read(name: str) -> bool:
        if tensor_names is None and not (0 < len(name) <= MAX_NAME and name.isprintable()):
            raise TensorNameError(f"a name has {len(name)} letters, or one is not printable")
        if tensor_names is None or name in tensor_names:
            return True
        if not name.startswith(UNUSED):
            raise ProtocolError("an answer has a tensor that nobody asked for")
        return False

    return tensors_in(packed, read, ANSWERED, MAX_LIST)


def decode(frame: bytes, tensor_names: frozenset[str] | None = None) -> tuple[Message, Tensors]:
    """Read a whole frame that a worker sent.

    Args:
        tensor_names: those to read; None: all.

    Raises:
        ProtocolError: it is not exactly one valid answer.
    """
    try:
        text, packed = parts_of(frame)
        return message_of(text), _tensors(packed, tensor_names)
    except (ProtocolError, MemoryError):
        raise
    except Exception as error:
        raise _UnreadableError(trouble_in(error)) from error


def lost_by(error: ProtocolError) -> WorkerLostError:
    """Return the error for a worker whose answer cannot be read."""
    trouble = str(error) if isinstance(error, _UnreadableError) else ""
    return WorkerLostError(error.says, trouble)


def reply_in(frame: bytes, number: int, tensor_names: frozenset[str] | None) -> Reply:
    """Return the reply that a worker sent.

    Args:
        number: that of the request.
        tensor_names: the names of the tensors that it may have; None: any.

    Raises:
        WorkerLostError: it is invalid.
    """
    try:
        message, tensors = decode(frame, tensor_names)
    except ProtocolError as error:
        raise lost_by(error) from error
    status = message.get("status", "")
    if message.get("number") != number or status not in ("ok", "not written", "error"):
        raise WorkerLostError(ProtocolError.says)
    return Reply(status, message.get("text", ""), message, tensors)


def as_progress(value: list[Any]) -> tuple[int, int]:
    """Return the steps done and their total that a worker claims.

    Raises:
        WorkerLostError: it claims something else.
    """
    if len(value) != 2 or not all(type(number) is int for number in value):
        raise WorkerLostError(ProtocolError.says)
    return min(max(value[0], 0), MAX_STEPS), min(max(value[1], 1), MAX_STEPS)
