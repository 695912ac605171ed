"""Plain Python values as JSON, and as an array of bytes that holds it; see `Call.form`.

Plain are None, numbers, strings, bytes, and lists, tuples, dictionaries, sets and arrays of plain
values, nested as one likes; a tensor is sent as an array. JSON has no bytes, tuples, sets and
arrays, nor keys other than texts: these are objects with one key, such as {"(tuple)": [1, 2]}.

Covered: the number and depth of values on both sides. Not covered: what behaves like a list, a
dictionary or a set, such as a deque, a subclass or the keys of a dictionary, is sent as one.
"""

import contextlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np

MOST = 1 << 19  # bytes of JSON
DEEPEST = 60  # of values in values
MOST_BITS = 14_000  # of a number: Python writes no number of more than 4300 digits
SMALLEST_UNIT = 1e-9
LONGEST_TEXT = 60  # characters of a value in a message
TUPLE, DICT, SET, FROZEN, ARRAY = "(tuple)", "(dict)", "(set)", "(frozenset)", "(array)"
BYTES = "(bytes)"
TAGS = frozenset({TUPLE, DICT, SET, FROZEN, ARRAY, BYTES})


def encoded(value: Any, depth: int = 0) -> Any:
    """Return a plain value as what JSON has.

    Raises:
        TypeError: it is not plain, or too deep; the message says what it is.
    """
    if depth > DEEPEST:
        raise TypeError(f"values {DEEPEST} levels deep")
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise TypeError(f"a number of more than {MOST_BITS} bits")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Sequence | Mapping | Set) and len(value) > MOST:
        raise TypeError(f"more than {MOST >> 10} KiB")
    if isinstance(value, bytes | bytearray):
        return {BYTES: value.decode("latin-1")}
    if isinstance(value, Sequence):
        items = [encoded(item, depth + 1) for item in value]
        return {TUPLE: items} if isinstance(value, tuple) else items
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value) and TAGS.isdisjoint(value):
            return {key: encoded(item, depth + 1) for key, item in value.items()}
        pairs = [[encoded(each, depth + 1) for each in pair] for pair in value.items()]
        return {DICT: pairs}
    if isinstance(value, Set):
        items = sorted((encoded(item, depth + 1) for item in value), key=json.dumps)
        return {FROZEN if isinstance(value, frozenset) else SET: items}
    if hasattr(value, "detach"):  # a tensor of torch's
        value = np.asarray(value.detach())
    if isinstance(value, np.generic | np.ndarray) and value.dtype.kind in "biufU":
        return value.item() if value.ndim == 0 else {ARRAY: value.tolist()}
    if isinstance(value, np.ndarray) and value.dtype.kind in "OS":
        return encoded(value.tolist(), depth + 1)
    raise TypeError(f"a value of type {type(value).__name__}")


def decoded(value: Any, depth: int = 0) -> Any:
    """Return the plain value of what JSON has.

    Raises:
        ValueError, TypeError: it is none, or too deep.
    """
    if depth > 2 * DEEPEST:  # a level may be two in JSON
        raise ValueError("too deep")
    if isinstance(value, list):
        return [decoded(item, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and not TAGS.isdisjoint(value):
        ((tag, content),) = value.items()
        if tag == ARRAY:
            return np.array(content)
        if tag == BYTES:
            return str.encode(content, "latin-1")
        items = [decoded(item, depth + 1) for item in content]
        return {TUPLE: tuple, DICT: dict, SET: set, FROZEN: frozenset}[tag](items)
    return {key: decoded(item, depth + 1) for key, item in value.items()}


def packed(value: Any) -> np.ndarray:
    """Return a plain value as an array of bytes: (bytes,), uint8.

    Raises:
        TypeError: it is not plain, or too large; the message says what it is.
    """
    text = json.dumps(encoded(value)).encode()
    if len(text) > MOST:
        raise TypeError(f"more than {MOST >> 10} KiB")
    return np.frombuffer(text, dtype=np.uint8)


def loaded(array: np.ndarray) -> Any:
    """Return the JSON that an array of bytes holds.

    Raises:
        ValueError: it holds none.
    """
    if array.dtype != np.uint8 or array.size > MOST:
        raise ValueError("not a plain value")
    try:
        return json.loads(array.tobytes())
    except RecursionError as error:
        raise ValueError("not a plain value") from error


def unpacked(array: np.ndarray) -> Any:
    """Return the plain value that an array of bytes holds.

    Raises:
        ValueError, TypeError: it holds none.
    """
    return decoded(loaded(array))


class Difference(NamedTuple):
    """What differs in two plain values: its place, the parts there, and by how much.

    Numbers differ by their difference over a unit + the expected one, anything else infinitely.
    """

    place: str
    got: str
    expected: str
    size: float


def shown(value: Any) -> str:
    """Return a value as Python writes it, cut off if it is long."""
    text = repr(value.tolist() if isinstance(value, np.ndarray) else value)
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 3]}..."


def _kind(value: Any) -> str:
    """Return what a value counts as: a tuple or an array is as good as a list, and 2.0 as 2."""
    for kinds, name in (
        ((bool, int, float), "a number"),
        ((list, tuple, np.ndarray), "a list"),
        ((dict,), "a dictionary"),
        ((set, frozenset), "a set"),
        ((str,), "a string"),
        ((bytes,), "bytes"),
    ):
        if isinstance(value, kinds):
            return name
    return "None"


def unit_of(numbers: Sequence[float] | np.ndarray) -> float:
    """Return the size of what is expected, at most 1: what is tiny must be right, too.

    It is 1 if all numbers are 0, and never so small that the rounding of larger ones counts.
    """
    sizes = np.abs(np.asarray(numbers, dtype=np.float64))
    largest = float(np.max(sizes[np.isfinite(sizes)], initial=0.0))
    return min(1.0, max(largest, SMALLEST_UNIT)) if largest else 1.0


def _apart(got: float, expected: float, unit: float) -> float:
    """Return how far a number is off: integers are right or wrong, and so is what is not finite."""
    if got == expected or (got != got and expected != expected):
        return 0.0
    with contextlib.suppress(OverflowError):  # an integer may be too large for a float
        size = abs(float(got) - float(expected)) / (unit + abs(float(expected)))
        if math.isfinite(size) and (isinstance(got, float) or isinstance(expected, float)):
            return size
    return math.inf


def differences(
    got: Any, expected: Any, place: str, unit: float | None = None
) -> Iterator[Difference]:
    """Yield what differs in two plain values, the first place first.

    Args:
        place: what they are, such as "output"; what is in them is "output[3]['a']".
        unit: see `unit_of`; None: that of all numbers in the expected value.
    """
    if unit is None:
        unit = unit_of(outline(expected)[1])

    def differs(one: str, other: str, size: float = math.inf) -> Difference:
        return Difference(place, one, other, size)

    kind = _kind(expected)
    if _kind(got) != kind:
        is_tuple, is_array = isinstance(got, tuple), isinstance(got, np.ndarray)
        wanted = "True or False" if isinstance(expected, bool) else kind
        yield differs("a tuple" if is_tuple else "an array" if is_array else _kind(got), wanted)
    elif kind == "a number":
        size = _apart(got, expected, unit)
        if size:
            yield differs(shown(got), shown(expected), size)
    elif isinstance(got, np.ndarray):
        yield from differences(got.tolist(), expected, place, unit)
    elif isinstance(expected, np.ndarray):
        yield from differences(got, expected.tolist(), place, unit)
    elif kind == "a list":
        for number, (one, other) in enumerate(zip(got, expected, strict=False)):
            yield from differences(one, other, f"{place}[{number}]", unit)
        if len(got) != len(expected):
            yield differs(f"a list of {len(got)} items", f"{len(expected)}")
    elif kind == "a dictionary":
        for key in expected:
            if key in got:
                inside = f"{place}[{shown(key)}]"
                yield from differences(got[key], expected[key], inside, unit)
            else:
                yield differs(f"a dictionary without the key {shown(key)}", "one with it")
        for key in got.keys() - expected.keys():
            yield differs(f"a dictionary with the key {shown(key)}", "one without it")
    elif got != expected:
        yield differs(shown(got), shown(expected))


def outline(value: Any) -> tuple[str, list[float]]:
    """Return a value as a text without the numbers that are rounded, and these in order."""
    numbers: list[float] = []

    def text(part: Any) -> str:
        if isinstance(part, float):
            numbers.append(part)
            return "#"
        if isinstance(part, np.ndarray):
            return text(part.tolist())
        if isinstance(part, list | tuple):
            return f"[{','.join(map(text, part))}]"
        if isinstance(part, dict):
            pairs = sorted((text(key), key) for key in part)
            return f"{{{','.join(f'{name}:{text(part[key])}' for name, key in pairs)}}}"
        if isinstance(part, set | frozenset):
            return f"{{{','.join(sorted(map(text, part)))}}}"
        return repr(part)

    return text(value), numbers
