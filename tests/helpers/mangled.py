"""Random answers that no honest worker gives, with changed JSON, tensors or bytes."""

import json
import random
from typing import Any

from tests.helpers.scripted_worker import Answer

KEYS = (
    "number status text function where forbidden importing missing lacking through imported torch"
    " drew progress before after unknown"
).split()
TEXTS = (
    r'"\ud800"',
    r'"\u202e\u2066\r\n\u001b[2J"',
    '""',
    '"error"',
    '"not written"',
    '"attention"',
    '"BertSelfAttention.attention"',
    '"' + "é\U0001f600" * 2000 + '"',
    '"\ud800"',  # its three bytes, which UTF-8 does not allow
)
VALUES = (
    *TEXTS,
    *"NaN -Infinity 1e999 -0.0 0 -1 2.0 true null [] {} [[]] tru".split(),
    "9" * 5000,
    str(2**64),
    '{"a": {"b": 1}, "a": 2}',
    "[" * 3000 + "]" * 3000,
    json.dumps({str(number): number for number in range(900)}),
)
NAMES = (
    '""',
    r'"\ud800"',
    r'"out/weights/\udc80"',
    '"__metadata__"',
    '"' + "n" * 65536 + '"',
    '"out/weights/e\u0301"',
    '"out/output"',
    '"after/key"',
    '"out/losses"',
)
TYPES = "F8_E4M3 BF16 F16 F32 F64 U8 I16 I32 I64 U64 BOOL C64 O <f4".split()
SHAPES: tuple[Any, ...] = ([], [0], [2**24], [2**62, 4], [-1, -1], [1.0], [True], [1] * 9, {}, "2")
FILLS = (
    b"\x00\x00\xc0\x7f\x01\x00\xa0\xff",  # NaN, with and without a payload
    b"\x00\x00\x80\x7f\x00\x00\x80\xff",  # infinities
    b"\x01\x00\x00\x00\x00\x00\x00\x80",  # denormal, -0.0, the least int64
    b"\xff\xff\x7f\x7f\xff\xff\x7f\xff",  # the largest float32
    b"\xff\xff\xff\xff\xff\xff\xef\x7f",  # the largest float64
    b"\x02\x80\x01\x00\xfe\x03\x00\x01",  # bools other than 0 and 1
)


def with_value(text: str, key: str, value: str) -> str:
    """Return an object's JSON with a value added at a key, which it may have already."""
    return text[:-1] + f", {key}: {value}}}"


def other_json(rng: random.Random, answer: Answer) -> Answer:
    if rng.random() < 0.1:
        return Answer(rng.choice(VALUES), answer.listed, answer.data)
    key = rng.choice(TEXTS) if rng.random() < 0.15 else json.dumps(rng.choice(KEYS))
    value = rng.choice((rng.choice(VALUES), f"{{{rng.choice(TEXTS)}: {rng.choice(VALUES)}}}"))
    text = with_value(answer.message, key, value)
    if rng.random() < 0.4:
        text = with_value(text, '"status"', rng.choice(('"error"', '"not written"', '"lost"')))
    return Answer(text, answer.listed, answer.data)


def other_list(rng: random.Random, answer: Answer) -> Answer:
    """Change the list of tensors: all of it, or the name, type, shape or place of one."""
    try:
        listed = json.loads(answer.listed or "{}")
        name = rng.choice(list(listed))
        entry = dict(listed[name])
        shape = [*entry["shape"]]
    except (ValueError, TypeError, LookupError, RecursionError):  # it was changed before
        return Answer(answer.message, rng.choice(VALUES), answer.data)
    if rng.random() < 0.4:
        text = with_value(answer.listed or "", rng.choice(NAMES), json.dumps(entry))
        return Answer(answer.message, text, answer.data)
    key = rng.choice(("dtype", "shape", "data_offsets"))
    size = len(answer.data)
    values = {
        "dtype": rng.choice(TYPES),
        "shape": rng.choice((*SHAPES, [1, *shape], shape[::-1])),
        "data_offsets": [rng.randrange(-8, size + 9), rng.randrange(-8, size + 9)],
    }
    listed[name] = rng.choice((entry | {key: values[key]}, [], None))
    return Answer(answer.message, json.dumps(listed), answer.data)


def other_data(rng: random.Random, answer: Answer) -> Answer:
    data = bytearray(answer.data or bytes(8))
    start = rng.randrange(len(data)) // 8 * 8 if rng.random() < 0.5 else 0
    length = min(rng.choice((8, len(data))), len(data) - start)
    data[start : start + length] = (rng.choice(FILLS) * len(data))[:length]
    if rng.random() < 0.1:
        del data[rng.randrange(len(data)) :]
    return Answer(answer.message, answer.listed, bytes(data))


def other_bytes(rng: random.Random, answer: Answer) -> bytes:
    frame = bytearray(answer.frame())
    frame[rng.randrange(min(16, len(frame)))] ^= 1 << rng.randrange(8)
    return bytes(frame[: rng.choice((0, rng.randrange(len(frame)), len(frame)))])


def mangled(rng: random.Random, answer: Answer) -> Answer | bytes:
    """Return an answer with up to three changes."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        change = rng.choice((other_json, other_list, other_data))
        answer = change(rng, answer)
    return other_bytes(rng, answer) if rng.random() < 0.15 else answer
