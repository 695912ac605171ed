"""Mutants of the engine, as they are kept: where each stands, and a sample drawn by a seed.

A mutant is kept as the lines that it changes and what they become, so that it can be applied
wherever these lines still stand.
"""

import ast
import random
from pathlib import Path
from typing import NamedTuple

from tests.mutants.generate import changes, functions, meaning, with_change

ENGINE = Path("engine/src/tensormark")
SEED = 2026


class Room(NamedTuple):
    """Files of the engine that are changed.

    Attributes:
        size: how many mutants are drawn from them.
        tests: the engine's tests that are about them; those that take long come last.
    """

    size: int
    files: str
    tests: str


ROOMS = {
    "judging": Room(
        105,
        "judging/*.py",
        "checks compare diagnose fingerprints handout student_text tape trial reports",
    ),
    "worker": Room(
        95,
        "worker/calls.py worker/exceptions.py worker/outputs.py worker/st*.py worker/tape.py"
        " worker/values.py",
        "callers outputs shapes stand_ins tape values plain_functions without_torch",
    ),
    "answers": Room(30, "sandbox/answers.py worker/protocol.py", "answers fuzz"),
    "intake": Room(70, "intake/*.py", "archives intake leftovers links process sources viva"),
    "class": Room(
        100,
        "classroom/**/*.py",
        "class_people class_pages class_returned class_jobs leaderboard class",
    ),
}


def places(lines, wanted):
    """Return the indices at which these lines stand in a file."""
    size = len(wanted)
    return [at for at in range(len(lines) - size + 1) if lines[at : at + size] == wanted]


def place_in(text, mutant):
    """Return the first line of a file that a mutant changes; None if it no longer stands there."""
    found = places(text.split("\n"), mutant["old"].split("\n"))
    found = found[mutant["occurrence"] :] or found[: len(found) == 1]
    return found[0] + 1 if found else None


def applied(text, mutant):
    """Return the text of a file in which a mutant stands, with its change."""
    first = (place_in(text, mutant) or 1) - 1
    lines = text.split("\n")
    lines[first : first + mutant["old"].count("\n") + 1] = [mutant["new"]]
    return "\n".join(lines)


def found_in(root, mutant):
    """Return where a mutant stands: in its own file, or in the only one its lines moved to."""
    own = root / mutant["file"]
    place = place_in(own.read_text("utf-8"), mutant) if own.is_file() else None
    if place:
        return own, place
    lines = mutant["old"].split("\n")
    moved = []
    for path in (root / ENGINE).rglob("*.py"):
        own_lines = path.read_text("utf-8").split("\n")
        moved += [(path, at + 1) for at in places(own_lines, lines)]
    return moved[0] if len(moved) == 1 else None


def candidates(room, path, root):
    """Yield all mutants of a file; run and keep add keys, such as what killed them."""
    source = path.read_text("utf-8")
    for function in functions(ast.parse(source)):
        for operator, old, new in changes(function):
            first, before, after = with_change(source, old, new)
            yield {
                "room": room,
                "file": path.relative_to(root).as_posix(),
                "line": first + 1,  # for people
                "operator": operator,
                "old": before,
                "new": after,
                "occurrence": places(source.split("\n"), before.split("\n")).index(first),
            }


def drawn(root, known):
    """Replace the mutants whose lines are gone: by all operators alike, never two of a line.

    Raises:
        IndexError: a room has fewer lines to change than its size.
    """
    chosen = []
    for mutant in known:
        found = found_in(root, mutant)
        if found:
            chosen.append(mutant | {"file": str(found[0].relative_to(root)), "line": found[1]})
    for room, (size, patterns, _) in ROOMS.items():
        draw = random.Random(f"{SEED} {room}")
        paths = set().union(*map((root / ENGINE).glob, patterns.split()))
        by_operator = {}
        for path in sorted(paths):
            for mutant in candidates(room, path, root):
                by_operator.setdefault(mutant["operator"], []).append(mutant)
        taken = {(each["file"], each["line"]) for each in chosen if each["room"] == room}
        while len(taken) < size:
            operator = draw.choice(sorted(by_operator))
            of_operator = by_operator[operator]
            mutant = of_operator.pop(draw.randrange(len(of_operator)))
            if not of_operator:
                del by_operator[operator]
            source = (root / mutant["file"]).read_text("utf-8")
            is_another = meaning(applied(source, mutant)) not in ("", meaning(source))
            if (mutant["file"], mutant["line"]) not in taken and is_another:
                taken.add((mutant["file"], mutant["line"]))
                chosen.append(mutant)
    return sorted(chosen, key=lambda each: (each["room"], each["file"], each["line"]))
