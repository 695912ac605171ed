"""Copies of the engine's files that note which test reaches which mutant.

Each process that runs such a file, however it was started, writes into a file that is mapped into
memory: a byte for each test and mutant.
"""

import ast
import json
from collections.abc import Mapping, Sized
from pathlib import Path

PROBE = """
import mmap, os
def reached_(number):
    at = 4 + int.from_bytes(reached_.map[:4], "little") * {mutants} + number
    reached_.map[at] = 1
with open({path!r}, "r+b") as file_:
    reached_.map = mmap.mmap(file_.fileno(), 0)
"""
LOADED = """
try:
    with open({path!r}) as file_: exec(file_.read())
except BaseException: reached_ = lambda number: None
"""


OVERHEAD = 0.1  # seconds of every test


def statement_at(tree: ast.Module, texts: list[str], line: int) -> int:
    """Return the first line of the innermost statement that a line belongs to."""
    found = 1
    for node in ast.walk(tree):  # from the outside to the inside
        if not isinstance(node, ast.stmt):
            continue
        is_elif = texts[node.lineno - 1].lstrip().startswith("elif ")
        if node.lineno <= line <= (node.end_lineno or 0) and not is_elif:
            found = node.lineno
    return found


def with_probes(source: str, lines: Mapping[int, int]) -> dict[int, str]:
    """Return what to insert before which line, given the mutants' lines."""
    tree = ast.parse(source)
    texts = source.split("\n")
    inserted: dict[int, str] = {}
    for number, line in lines.items():
        first = statement_at(tree, texts, line)
        indent = " " * (len(texts[first - 1]) - len(texts[first - 1].lstrip()))
        inserted[first] = inserted.get(first, "") + f"{indent}reached_({number})\n"
    return inserted


def first_code(source: str) -> int:
    """Return the line of the first statement that is no docstring."""
    body = ast.parse(source).body
    return next(node.lineno for node in body if not isinstance(node, ast.Expr))


def insert(path: Path, lines: Mapping[int, int], loader: Path) -> None:
    """Write the probes of these mutants' lines into a file."""
    source = path.read_text(encoding="utf-8")
    inserted = with_probes(source, lines)
    inserted[first_code(source)] = LOADED.format(path=str(loader)) + "\n"
    texts = (inserted.get(at, "") + text for at, text in enumerate(source.split("\n"), start=1))
    path.write_text("\n".join(texts), encoding="utf-8")


def reached(probes: Path, mutants: Sized) -> dict[int, list[tuple[float, str]]]:
    """Return by mutant the passing tests that reach it, with their times; {} without a record.

    The first ones are quick and reach few mutants, so that they are more likely to be about it.
    """
    if not probes.exists():
        return {}
    found: dict[int, list[tuple[float, float, str]]] = {}
    bits = probes.read_bytes()[4:]
    log = probes.with_suffix(".log").read_text(encoding="utf-8")
    for at, line in enumerate(log.splitlines()):
        name, passed, seconds = json.loads(line)
        row = bits[at * len(mutants) : (at + 1) * len(mutants)]
        for number in range(len(mutants)):
            if passed and row[number]:
                rank = (seconds + OVERHEAD) * sum(row)
                found.setdefault(number, []).append((rank, seconds, name))
    return {number: [test[1:] for test in sorted(tests)] for number, tests in found.items()}
