"""Submissions written to cost the grader itself as much as possible.

There are four kinds: sources that are hard to parse, archives that are hard to read, answers that
are hard to decode, and output that is hard to show. KNOWN makes named ones, `drawn` random ones.
"""

import dataclasses
import functools
import io
import random
import shutil
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

from tensormark.sandbox.interface import Limits
from tests.helpers import ROOT

MOST = 250_000  # bytes of a source
MARKS = "".join(map(chr, (0x334, 0x327, 0x31B, 0x316, 0x301)))
PIECES = [*"([{x1,-+*=~.:\n@ \\é", "'a'", "**", "==", "f'{x}'", "lambda:", " if ", " await "]
OTHERS = ("optimizer.py", "pretraining.py", "transformer.py")


@dataclasses.dataclass(frozen=True)
class Attack:
    """A submission.

    Attributes:
        file, content: its name and its bytes.
        extended: whether right files for all other exercises come with it.
    """

    file: str
    content: bytes
    extended: bool = False


# --- sources ----------------------------------------------------------------------------------

SOURCES: dict[str, str] = {
    "an identifier of combining marks": f"a{MARKS * (MOST // 10)} = 1\n",
    "deep parentheses": "(" * (MOST // 2) + ")" * (MOST // 2),
    "deep lists below the parser's limit": ("[" * 99 + "]" * 99 + "\n") * (MOST // 200),
    "operators": "1" + "+1" * (MOST // 2 - 1),
    "calls": "x" + "()" * (MOST // 2 - 1),
    "f-strings": "x=" + "f'{1}'" * (MOST // 6),
    "a number": "x=" + "9" * (MOST - 2),
    "constants that are folded": "((2**63)**63)**63*'a'," * (MOST // 23),
    "large tuples that are folded": "x=((1,)*99,)*99," * (MOST // 17),
    "statements": "x\n" * (MOST // 2),
    "private names": "torch._C\n" * (MOST // 10),
    "classes": "class A(A):pass\n" * (MOST // 16),
    "functions in functions": "".join(f"{' ' * n}def f():\n" for n in range(99)) + " " * 99 + "1",
    "decorators": "@x\n" * (MOST // 3) + "def f():pass",
    "escapes that warn": "x='\\d'\n" * 3000,
    "a line that is wrong at its end": "x = 1;" * (MOST // 6) + ")",
    "null": "\0" * MOST,
    "a merge on each line": "<<<<<<< HEAD\n" * (MOST // 13),
}


def random_source(rng: random.Random) -> str:
    """Return pieces of code that are repeated, with others between."""
    text = ""
    while len(text) < MOST // 2:
        text += "".join(rng.choices(PIECES, k=rng.randrange(1, 6)))
        text *= min(rng.choice((1, 2, 10, 1000)), MOST // len(text))
    return text


# --- archives ---------------------------------------------------------------------------------


def zipped(names: list[str], content: bytes) -> bytes:
    """Pack a zip with the same content under many names."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Duplicate name")  # which is the attack
        for name in names:
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def tarred(names: list[str], content: bytes) -> bytes:
    """Pack a tar.gz with the same content under many names."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return file.getvalue()


LONG = [f"{n:04}" + "n" * 240 + ".py" for n in range(9_000)]
# like the names that a platform gives
ALMOST = [f"a_{n}_{'1' * 100}_{n}_" * 2 + "bert.py" for n in range(9_000)]
BOMB = bytes(80 << 20)
ARCHIVES: dict[str, Callable[[], bytes]] = {
    "a zip of long names": lambda: zipped(LONG[:7_000], b""),
    "a zip of names of a platform's": lambda: zipped(ALMOST[:7_000], b""),
    "a tar of long names": lambda: tarred(LONG, b""),
    "a tar of names of a platform's": lambda: tarred(ALMOST, b""),
    "a zip that unpacks to much": lambda: zipped(["bert.py"], BOMB),
    "a tar that unpacks to much": lambda: tarred(["bert.py"], BOMB),
    "a zip of nothing": lambda: zipped([], b"") * 1_000_000,
}


def random_archive(rng: random.Random) -> Attack:
    pack = rng.choice((zipped, tarred))
    content = bytearray(pack(["bert.py", "x.py"] * 50, rng.randbytes(2000)))
    for _ in range(rng.randrange(1, 20)):
        at = rng.randrange(len(content))
        content[at : at + rng.choice((1, 4, 64))] = rng.randbytes(rng.choice((0, 1, 4, 64)))
    return Attack("work.zip", bytes(content))


# --- answers ----------------------------------------------------------------------------------

ANSWERING = """

import gc as _gc, json as _json, random as _random

_gc.unfreeze()
_modules = [m for m in _gc.get_objects() if type(m) is type(_gc)]
_protocol = next(m for m in _modules if m.__name__ == "tensormark.worker.protocol")
_encode, _space = _protocol.encode, SPACE - 100


def _listed(names, size):
    entry = {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}
    return _json.dumps({name: entry for name in names}).encode()


def _answer(message, tensors=None):
    if not tensors:
        return _encode(message, tensors)
    text, packed = _json.dumps(message).encode(), _encode(message, tensors)[-1:]
    if True:
        BODY
    text, packed = text[:_space], packed[: max(0, _space - len(text))]
    return _protocol.HEADER.pack(_protocol.MAGIC, len(text), len(packed)) + text + packed


_protocol.encode = _answer
"""
PACKED = "packed = len({0}).to_bytes(8, 'little') + {0} + {1}"
ANSWERS = {
    "100,000 further keys": "more = {str(n): n for n in range(100000)}; "
    "text = _json.dumps(message | more).encode()",
    "deep JSON": "text = b'{\"before\":' + b'[' * _space",
    "long JSON": "text = _json.dumps(message | {'text': 'x' * _space}).encode()",
    "a number of many digits": "text = b'{\"number\":' + b'9' * 16000 + b'}'",
    "10,000 tensors": "h = _listed([f'out/{n}' for n in range(10000)], 4); "
    + PACKED.format("h", "bytes(4)"),
    "NaN, in all its space": "import numpy; size = _space // 9 // len(tensors); "
    "return _encode(message, {n: numpy.full(size, numpy.nan) for n in tensors})",
    "huge values": "return _encode(message, {n: t * 0 + 3e38 for n, t in tensors.items()})",
    "garbage": "r = _random.Random(len(text)); packed = r.randbytes(_space)",
    "damage": "f = bytearray(_encode(message, tensors)); r = _random.Random(len(f));\n"
    "        for _ in range(9): f[r.randrange(16, len(f))] = r.randrange(256)\n"
    "        return bytes(f)",
}
PRINTING = {
    "a flood": "print('x' * 10**6)",
    "bytes that are no text": "import os; os.write(1, b'\\xff\\x00\\x1b[2J' * 10**5)",
    "right to left": "print('\\u202e' * 10**5)",
}


def solution() -> bytes:
    return (ROOT / "solution" / "bert.py").read_bytes()


def written(text: str) -> Attack:
    return Attack("bert.py", text.encode()[: 256 << 10])


def archived(make: Callable[[], bytes]) -> Attack:
    return Attack("work.zip", make())


def answering(body: str) -> Attack:
    code = ANSWERING.replace("SPACE", str(Limits().reply_bytes)).replace("BODY", body)
    return Attack("bert.py", solution() + code.encode(), extended=True)


def random_answer(rng: random.Random) -> Attack:
    body = ANSWERS["damage"].replace("range(9)", f"range({rng.randrange(1, 99)})")
    return answering(body.replace("len(f));", f"len(f) + {rng.randrange(10**6)});"))


# --- all of them ------------------------------------------------------------------------------

KNOWN: dict[str, Callable[[], Attack]] = {
    **{f"source: {name}": functools.partial(written, text) for name, text in SOURCES.items()},
    **{name: functools.partial(archived, make) for name, make in ARCHIVES.items()},
    **{f"answers: {name}": functools.partial(answering, body) for name, body in ANSWERS.items()},
    **{
        f"prints: {name}": functools.partial(answering, f"{code}; return _encode(message, tensors)")
        for name, code in PRINTING.items()
    },
}


def drawn(rng: random.Random) -> Attack:
    kinds = (lambda r: written(random_source(r)), random_archive, random_answer)
    return rng.choice(kinds)(rng)


def write(attack: Attack, folder: Path) -> Path:
    """Write an attack into a folder; return the path to hand in."""
    path = folder / attack.file
    path.write_bytes(attack.content)
    for name in OTHERS if attack.extended else ():
        shutil.copy(ROOT / "solution" / name, folder)
    return folder if attack.extended else path
