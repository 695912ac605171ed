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
PIECES = "( [ { x 1 'a' , - + ** == f'{x}' lambda: if else not ~ . : \n \t @ * = await \\ é".split(
    " "
)

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
    "many such identifiers": f"a{MARKS * 40}\n" * (MOST // 420),
    "deep parentheses": "(" * (MOST // 2) + ")" * (MOST // 2),
    "deep lists below the parser's limit": ("[" * 99 + "]" * 99 + "\n") * (MOST // 200),
    "a deep dictionary": "{1:" * (MOST // 3),
    "minus signs": "-" * MOST + "1",
    "operators": "1" + "+1" * (MOST // 2 - 1),
    "comparisons": "1" + "<1" * (MOST // 2 - 1),
    "attributes": "x" + ".a" * (MOST // 2 - 1),
    "calls": "x" + "()" * (MOST // 2 - 1),
    "subscripts": "x" + "[0]" * (MOST // 3 - 1),
    "targets": "a=" * (MOST // 2) + "1",
    "names that are all used": "=".join(f"a{n}" for n in range(15_000))
    + "=["
    + ",".join(f"a{n}" for n in range(15_000))
    + "]",
    "f-strings": "x=" + "f'{1}'" * (MOST // 6),
    "f-strings in each other": "f'"
    + "{" * 3
    + "1"
    + "}" * 3
    + "'"
    + "+f'{x!r:>{y}}'" * (MOST // 14),
    "a number": "x=" + "9" * (MOST - 2),
    "constants that are folded": "((2**63)**63)**63*'a'," * (MOST // 23),
    "large tuples that are folded": "x=((1,)*99,)*99," * (MOST // 17),
    "lines": "\n" * MOST,
    "statements": "x\n" * (MOST // 2),
    "flags": "import os\n" * (MOST // 10),
    "private names": "torch._C\n" * (MOST // 10),
    "classes": "class A(A):pass\n" * (MOST // 16),
    "functions in functions": "".join(f"{' ' * n}def f():\n" for n in range(99)) + " " * 99 + "1",
    "conditions": "".join(f"{' ' * n}if x:\n" for n in range(99)) + " " * 99 + "1\n",
    "lambdas": "lambda:" * (MOST // 7) + "1",
    "decorators": "@x\n" * (MOST // 3) + "def f():pass",
    "strings that are joined": "'a'" * (MOST // 3),
    "escapes that warn": "x='\\d'\n" * 3000,
    "comparisons that warn": "1 is 1\n" * 3000,
    "a line that is wrong at its end": "x = 1;" * (MOST // 6) + ")",
    "one line of dots": "." * MOST,
    "null": "\0" * MOST,
    "tabs and spaces": "if 1:\n\tx\n        x\n" * (MOST // 20),
    "a merge on each line": "<<<<<<< HEAD\n" * (MOST // 13),
}


def random_source(rng: random.Random) -> str:
    text = "".join(rng.choices(PIECES, k=rng.randrange(1, 6)))
    while len(text) < MOST // 2:
        if rng.random() < 0.3:
            text += "".join(rng.choices(PIECES, k=rng.randrange(1, 6)))
        text *= min(rng.choice((2, 3, 10, 1000)), MOST // len(text))
        if rng.random() < 0.1:
            break
    return text


# --- archives ---------------------------------------------------------------------------------


def zipped(names: list[str], content: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Pack a zip with the same content under many names."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Duplicate name")  # which is the attack
        for name in names:
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return file.getvalue()


def tarred(names: list[str], content: bytes, packing: str) -> bytes:
    """Pack a tar with the same content under many names.

    Args:
        packing: "", "gz" or "xz".
    """
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=f"w:{packing}") as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return file.getvalue()


LONG = [f"{n:04}" + "n" * 240 + ".py" for n in range(9_000)]
ALMOST = [
    f"a_{n}_{'1' * 100}_{n}_" * 2 + "bert.py" for n in range(9_000)
]  # like the names of a platform
BOMB = 80 << 20  # bytes
ARCHIVES: dict[str, Callable[[], Attack]] = {
    "a zip of long names": lambda: Attack("work.zip", zipped(LONG[:7_000], b"")),
    "a zip of names of a platform's": lambda: Attack("work.zip", zipped(ALMOST[:7_000], b"")),
    "a tar of long names": lambda: Attack("work.tar.gz", tarred(LONG, b"", "gz")),
    "a tar of names of a platform's": lambda: Attack("work.tar.gz", tarred(ALMOST, b"", "gz")),
    "a zip that unpacks to much": lambda: Attack("work.zip", zipped(["bert.py"], bytes(BOMB))),
    "a tar.xz that unpacks to much": lambda: Attack(
        "work.tar.xz", tarred(["x"], bytes(BOMB), "xz")
    ),
    "a tar.gz that unpacks to much": lambda: Attack(
        "work.tar.gz", tarred(["bert.py"], bytes(BOMB), "gz")
    ),
    "a zip of nothing": lambda: Attack("work.zip", zipped([], b"") * 1_000_000),
}


def random_archive(rng: random.Random) -> Attack:
    names = ["bert.py", "x.py"] * 50
    filling = rng.randbytes(2000)
    kind = rng.choice(("zip", "", "gz", "xz"))
    archive = zipped(names, filling) if kind == "zip" else tarred(names, filling, kind)
    content = bytearray(archive)
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
    "a state of many parts": "more = {'before': {str(n): n for n in range(1000)}}; "
    "text = _json.dumps(message | more).encode()",
    "a number of many digits": "text = b'{\"number\":' + b'9' * 16000 + b'}'",
    "10,000 tensors": "h = _listed([f'out/{n}' for n in range(10000)], 4); "
    + PACKED.format("h", "bytes(4)"),
    "10,000 gradients": "h = _listed([f'grad/{n}' for n in range(10000)], 4); "
    + PACKED.format("h", "bytes(4)"),
    "1,000 gradients": "h = _listed([f'grad/{n}' for n in range(1000)], 4); "
    + PACKED.format("h", "bytes(4)"),
    "tensors that overlap": "h = _listed(tensors, _space - 5000); "
    + PACKED.format("h", "bytes(_space)"),
    "a list that is too long": "packed = (1 << 62).to_bytes(8, 'little') + b'{' * _space",
    "a list in all its space": "h = b'{' + b' ' * (_space - 99) + b'}'; "
    + PACKED.format("h", "b''"),
    "NaN everywhere": "return _encode(message, {n: t * float('nan') for n, t in tensors.items()})",
    "NaN, in all its space": "import numpy; size = _space // 9 // len(tensors); "
    "return _encode(message, {n: numpy.full(size, numpy.nan) for n in tensors})",
    "huge values": "return _encode(message, {n: t * 0 + 3e38 for n, t in tensors.items()})",
    "as large as it may be": "import numpy; size = (_space - 30000) // 4 // len(tensors); "
    "return _encode(message, {n: numpy.ones(size, 'f') for n in tensors})",
    "garbage": "r = _random.Random(len(text)); packed = r.randbytes(_space)",
    "damage": "f = bytearray(_encode(message, tensors)); r = _random.Random(len(f));\n"
    "        for _ in range(9): f[r.randrange(16, len(f))] = r.randrange(256)\n"
    "        return bytes(f)",
}  # fmt: skip
PRINTING = {
    "a flood": "print('x' * 10**6)",
    "bytes that are no text": "import os; os.write(1, b'\\xff\\x00\\x1b[2J' * 10**5)",
    "lines": "print('\\n' * 10**6)",
    "right to left": "print('\\u202e' * 10**5)",
}


def solution() -> bytes:
    return (ROOT / "solution" / "bert.py").read_bytes()


def written(text: str) -> Attack:
    return Attack("bert.py", text.encode()[: 256 << 10])


def answering(body: str) -> Attack:
    code = ANSWERING.replace("SPACE", str(Limits().reply_bytes)).replace("BODY", body)
    return Attack("bert.py", solution() + code.encode(), extended=True)


def random_answer(rng: random.Random) -> Attack:
    body = ANSWERS["damage"].replace("range(9)", f"range({rng.randrange(1, 99)})")
    return answering(body.replace("len(f));", f"len(f) + {rng.randrange(10**6)});"))


# --- all of them ------------------------------------------------------------------------------

KNOWN: dict[str, Callable[[], Attack]] = {
    **{f"source: {name}": functools.partial(written, text) for name, text in SOURCES.items()},
    **ARCHIVES,
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
