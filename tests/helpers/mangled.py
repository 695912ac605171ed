"""Random answers that no honest worker gives, with changed JSON, tensors or bytes."""

import json
import random
import struct
from collections.abc import Callable
from typing import Any

from tensormark.sandbox.interface import Request
from tests.helpers.scripted_worker import Answer

KEYS = (
    "number status text function where forbidden importing missing lacking through imported torch"
    " drew progress before after unknown"
).split()
TEXTS = (
    r'"\ud800"',
    r'"\udfff\ud800 x"',
    r'"\u0000"',
    r'"\u202e\u2066"',
    r'"a\u0301\u0301\u0301\u0301\u0301\u0301\u0301"',
    r'"\r\n\u001b[2J"',
    '""',
    '"error"',
    '"not written"',
    '"attention"',
    '"nn.MultiheadAttention"',
    '"os.path"',
    '"config.py"',
    '"BertSelfAttention.attention"',
    '" (bert.py, line 7)"',
    '"raised ValueError: x (bert.py, line 99999999)"',
    '"A.f should return a tensor"',
    '"' + "a" * 9000 + '"',
    '"' + "é\U0001f600" * 2000 + '"',
    '"' + "a\u0489" * 3000 + '"',
    '"\ud800"',  # its three bytes, which UTF-8 does not allow
)
VALUES = (
    *TEXTS,
    *"NaN Infinity -Infinity 1e999 -1e999 1e308 -0.0 0 1 -1 2.0 true false null [] {}".split(),
    "1" * 4000,
    "9" * 5000,
    "-" + "9" * 300,
    str(2**63),
    str(2**64),
    "[[]]",
    '[1, "x", null]',
    '{"a": {"b": 1}}',
    '{"a": [1]}',
    "[" * 3000 + "]" * 3000,
    '{"a":' * 2000 + "1" + "}" * 2000,
    json.dumps(["x"] * 3000),
    json.dumps({str(number): number for number in range(900)}),
    '{"a": 1, "a": 2}',
    "tru",
)
NAMES = (
    '""',
    r'"\u0000"',
    r'"\ud800"',
    r'"out/weights/\ud800"',
    r'"out/weights/\udc80\ud800"',
    '"__metadata__"',
    '"out/weights/__metadata__"',
    '"' + "n" * 65536 + '"',
    '"out/weights/' + "n" * 65536 + '"',
    '"out/weights/\u00e9"',
    '"out/weights/e\u0301"',
    '"out/weights/"',
    '"out/weights/bert.a"',
    '"out/output"',
    '"out/../x"',
    '"grad/\ud800"',
    '"grad/weights/mine"',
    '"after/key"',
    '"out/losses"',
    '"out/after/1"',
    '"out/predictions"',
)
TYPES = (
    "F8_E4M3 F8_E5M2 F8_E8M0 BF16 F16 F32 F64 I8 U8 I16 U16 I32 U32 I64 U64 BOOL C64 F4 O <f4"
).split()
SHAPES: tuple[Any, ...] = (
    [],
    [0],
    [1],
    [2**24],
    [2**25],
    [2**62, 4],
    [-1],
    [-1, -1],
    [1.0],
    [True],
    ["2"],
    [None],
    [[1]],
    [1] * 8,
    [1] * 9,
    [0, *[2**24] * 7],
    {},
    "2",
    None,
)
FILLS = (
    b"\x00\x00\xc0\x7f\x01\x00\xa0\xff",  # NaN, with and without a payload
    b"\x00\x00\x80\x7f\x00\x00\x80\xff",  # infinities
    b"\x01\x00\x00\x00\x00\x00\x00\x80",  # denormal, -0.0
    b"\xff\xff\x7f\x7f\xff\xff\x7f\xff",  # the largest float32
    b"\xff\xff\xff\xff\xff\xff\xef\x7f",  # the largest float64
    b"\x00\x00\x00\x00\x00\x00\x00\x80",  # the least int64
    b"\xff" * 8,
    b"\x02\x80\x01\x00\xfe\x03\x00\x01",  # bools other than 0 and 1
)


def with_value(text: str, key: str, value: str) -> str:
    """Return an object's JSON with a value added at a key, which it may have already."""
    return text[:-1] + f", {key}: {value}}}"


def other_json(rng: random.Random, answer: Answer) -> Answer:
    """Change the JSON: a value of a key, a key, or all of it."""
    if rng.random() < 0.1:
        return Answer(rng.choice(VALUES), answer.listed, answer.data)
    key = rng.choice(TEXTS) if rng.random() < 0.15 else json.dumps(rng.choice(KEYS))
    value = rng.choice(VALUES)
    if rng.random() < 0.3:  # within an object or a list
        value = f"{{{rng.choice(TEXTS)}: {value}}}" if rng.random() < 0.6 else f"[{value}, 1]"
    text = with_value(answer.message, key, value)
    if rng.random() < 0.4:
        text = with_value(text, '"status"', rng.choice(('"error"', '"not written"', '"lost"')))
    return Answer(text, answer.listed, answer.data)


def other_entry(rng: random.Random, entry: dict[str, Any], size: int) -> Any:
    entry = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]} | entry
    match rng.randrange(7):
        case 0:
            entry["dtype"] = rng.choice(TYPES)
        case 1:
            entry["shape"] = rng.choice(SHAPES)
        case 2:
            entry["shape"] = [*reversed(entry["shape"] or ())]
        case 3:
            entry["shape"] = [1, *(entry["shape"] or ())]
        case 4:
            entry["data_offsets"] = [rng.randrange(-8, size + 9), rng.randrange(-8, size + 9)]
        case 5:
            entry["shape"] = [0]
            entry["data_offsets"] = [0, 0]
        case 6:
            entry["dtype"] = rng.choice(TYPES)
            length = entry["data_offsets"][1]
            entry["shape"] = [length // 2]
            entry["data_offsets"] = [0, length]
    return rng.choice((entry, entry, entry, [], None, 1, {"dtype": "F32"}))


def entries(answer: Answer) -> dict[str, Any]:
    """Return the intact entries of an answer's list of tensors."""
    try:
        listed = json.loads(answer.listed or "{}")
    except (ValueError, RecursionError):
        return {}
    items = listed.items() if type(listed) is dict else ()
    return {name: entry for name, entry in items if isinstance(entry, dict)}


def other_list(rng: random.Random, answer: Answer) -> Answer:
    """Change the list of tensors: an entry, its name, or all of it."""
    listed = entries(answer)
    if not listed or rng.random() < 0.1:
        return Answer(answer.message, rng.choice(VALUES), answer.data)
    name = rng.choice(list(listed))
    if rng.random() < 0.4:
        entry = listed.pop(name) if rng.random() < 0.5 else listed[name]
        text = json.dumps(listed) if listed else '{"a": 1}'
        return Answer(
            answer.message, with_value(text, rng.choice(NAMES), json.dumps(entry)), answer.data
        )
    listed[name] = other_entry(rng, listed[name], len(answer.data))
    return Answer(answer.message, json.dumps(listed), answer.data)


def other_data(rng: random.Random, answer: Answer) -> Answer:
    data = bytearray(answer.data or b"\0" * 8)
    fill = rng.choice(FILLS)
    start = rng.randrange(len(data)) // 8 * 8 if rng.random() < 0.5 else 0
    length = rng.choice((8, len(data))) if rng.random() < 0.7 else rng.randrange(len(data))
    full = (fill * (length // 8 + 1))[: min(length, len(data) - start)]
    data[start : start + len(full)] = full
    if rng.random() < 0.1:
        del data[rng.randrange(len(data)) :]
    return Answer(answer.message, answer.listed, bytes(data))


def other_bytes(rng: random.Random, answer: Answer) -> bytes:
    frame = bytearray(answer.frame())
    match rng.randrange(4):
        case 0:
            return b""
        case 1:
            return bytes(frame[: rng.randrange(len(frame))])
        case 2:
            frame[rng.randrange(min(16, len(frame)))] ^= 1 << rng.randrange(8)
        case 3:
            struct.pack_into("<I", frame, 4, rng.randrange(2**32))
    return bytes(frame)


CHANGES: tuple[Callable[[random.Random, Answer], Answer | bytes], ...] = (
    other_json,
    other_json,
    other_list,
    other_list,
    other_data,
    other_data,
    other_bytes,
)


def mangled(rng: random.Random, request: Request, answer: Answer) -> Answer | bytes:
    result: Answer | bytes = answer
    for _ in range(rng.choice((1, 1, 2, 3))):
        if isinstance(result, Answer):
            result = rng.choice(CHANGES)(rng, result)
    return result
