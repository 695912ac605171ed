"""Read a worker's answers. Trusted side; everything in an answer is untrusted.

Only here does what a submission sends become values in this process. Code that uses them can rely
on this: a value of the message has the type that KEYS says, and a list is one of texts; a text is
one printable line of bounded length; and a tensor has a short printable name and, if it answers a
probe, was asked for. Other gradients are left out, and anything else is an error, which fails the
exercise.

Covered: sizes are checked before anything is parsed, and the JSON is flat and has known keys. The
tensors that an answer lists are as long as their shapes say, and do not overlap, which is known of
all before one is copied. Not covered: whether any of it is true.
"""

from collections.abc import Mapping
from typing import Any

from tensormark.sandbox.interface import Reply, WorkerLostError, printable
from tensormark.worker import protocol
from tensormark.worker.protocol import Message, ProtocolError, Tensors

FORGED = "wrote into the grader's channel"
MAX_JSON = 128 << 10  # bytes; the list of 200 parameters takes 20,000, a text a few hundred
MAX_TEXT = 1000  # characters of a text that are kept; a worker cuts an exception's at 300
MAX_ITEM = 100  # characters of a text in a list
MAX_ITEMS = 64  # of a list; a worker sends about 20
MAX_NAME = 200  # characters of a tensor's name; torch has no limit, but no model needs more
UNUSED = "grad/"  # gradients of parameters that only the submission has may have any name
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
    "causes": list,
    "lacks": bool,
    "changed": list,
    "backward": str,
}


def _value(value: Any) -> Any:
    """Return a value of an answer's JSON; text is made printable and truncated.

    Raises:
        ProtocolError: it is a list of something else than texts, or too long.
    """
    if isinstance(value, str):
        return printable(value[:MAX_TEXT])
    if not isinstance(value, list):
        return value
    if len(value) > MAX_ITEMS or not all(isinstance(item, str) for item in value):
        raise ProtocolError("an answer's JSON has a list that is too long, or not of texts")
    return [printable(item[:MAX_ITEM]) for item in value]


def decode(frame: bytes) -> tuple[Message, Tensors]:
    """Read a message that a worker sent: known keys with values of their type, and tensors.

    Raises:
        ProtocolError: it is something else.
    """
    message, tensors = protocol.decode(frame, MAX_JSON)
    if any(type(value) is not KEYS.get(key) for key, value in message.items()):
        raise ProtocolError("an answer's JSON has another key, or another type")
    readable = {n: x for n, x in tensors.items() if 0 < len(n) <= MAX_NAME and n.isprintable()}
    if not all(name in readable or name.startswith(UNUSED) for name in tensors):
        raise ProtocolError("a tensor's name is empty, too long or not printable")
    return {key: _value(value) for key, value in message.items()}, readable


def reply_in(frame: bytes, number: int, tensor_names: frozenset[str] | None = None) -> Reply:
    """Return the reply that a worker sent.

    Whatever is raised on the way is blamed on the answer: reading it depends on nothing else, opens
    no file and checks all sizes first. Only a lack of memory is the machine's fault.

    Args:
        number: that of the request.
        tensor_names: those of the tensors that it may have; see `Request`.

    Raises:
        WorkerLostError: it is invalid.
    """
    try:
        message, tensors = decode(frame)
    except MemoryError:
        raise
    except Exception as error:
        raise WorkerLostError(FORGED) from error
    status = message.get("status", "")
    asked = tensors.keys() if tensor_names is None else tensor_names
    unasked = any(not name.startswith(UNUSED) for name in tensors.keys() - asked)
    tensors = {name: tensor for name, tensor in tensors.items() if name in asked}
    if unasked or message.get("number") != number or status not in ("ok", "not written", "error"):
        raise WorkerLostError(FORGED)
    return Reply(status, message.get("text", ""), message, tensors)
