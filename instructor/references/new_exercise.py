"""Write the skeleton of a new exercise: `make exercise ID=name [FILE=transformer.py] [BEFORE=id]`.

An exercise lives in four places: a file of grader/assignment/exercises/, a hole in the solution, a
file of instructor/references/variants/, and a block in the handout. What is written runs: it asks
for a function that doubles a tensor, and knows two ways to get that wrong and one more to get it
right. It comes last in its file, or before another exercise: in the report, in the handout and in
the solution alike.
"""

import argparse
import keyword
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from string import Template

from grader.assignment import MINBERT
from grader.exercise import Assignment, Exercise
from grader.files import ROOT, write_whole
from instructor.references.variants import VariantError, region_of

EXERCISES = Path("grader/assignment/exercises")
VARIANTS = Path("instructor/references/variants")
HANDOUT = Path("handout.md")
DEFAULT_FILE = "transformer.py"

CASE = Template('''"""TODO: what the exercise is about."""

import numpy as np

from grader.assignment.model import OTHER_SIZES, BertCall, Sizes
from grader.exercise import Exercise, Probe, Tensors


def draw(rng: np.random.Generator, call: BertCall) -> Tensors:
    """Draw what the call takes."""
    shape = (call.sizes.B, call.sizes.T, call.sizes.D)
    return {"x": rng.standard_normal(shape), "cotangent/output": rng.standard_normal(shape)}


def of(sizes: Sizes, dtype: str = "float32") -> tuple[BertCall]:
    """Return a call with a tensor of these sizes."""
    return (
        BertCall(
            "${id}",
            ("x",),
            kind="function",
            module="${module}",
            inputs=f"x {sizes.B}",
            sizes=sizes,
            gradients=True,
            dtype=dtype,
        ),
    )


EXERCISE = Exercise(
    id="${id}",
    order=${order},
    title="TODO a title",
    file="${file}",
    extension=True,
    points={"values": 3, "properties": 1},
    draw=draw,
    probes=(
        Probe("output", "values", "${id} gives a wrong output", of(Sizes())),
        Probe(
            "other sizes",
            "properties",
            "${id} is wrong for other sizes or in float64",
            of(OTHER_SIZES, "float64"),
        ),
    ),
)
''')
HOLE = Template('''def ${id}(x: torch.Tensor) -> torch.Tensor:
    """Return twice x.

    Args:
        x: (B, T, D).

    Returns: (B, T, D).
    """
    # TODO(${id}): say in a line what is to be written. See handout.md, Problem (${id}).
    ### BEGIN SOLUTION ${id}
    return 2.0 * x
    ### END SOLUTION ${id}
''')
VARIANTS_FILE = Template('''"""Mistakes in ${id}, and other right solutions of it."""

from instructor.references.honest import Honest
from instructor.references.variants import mistakes

RIGHT = "return 2.0 * x"
HONEST = (Honest("${id}_as_a_sum", {"${id}": "return x + x"}, module="${module}"),)

VARIANTS = mistakes(
    "${id}",
    "The factor",
    {
        "${id}_not_doubled": ("the tensor is returned as it is", RIGHT, "return x"),
        "${id}_squared": ("the tensor is squared, not doubled", RIGHT, "return x * x"),
    },
)
''')
BLOCK = Template("""### Problem (${id}): TODO a title (4 points, about 15 minutes)

TODO: the idea, and the equation.

**Deliverable**. The body of `${id}` in `${file}`.

**Shapes**. `x` (B, T, D); returned (B, T, D).

**The factor**. TODO: a paragraph for each thing that can go wrong; mistakes name its bold words.

**Run**. `make check K=${id}`

**You are done when** the line says `passed` with 4/4.

<details><summary>Hint</summary>

TODO
</details>

**If you see ...**

- `the tensor is returned as it is`: TODO
- `the tensor is squared, not doubled`: TODO

""")


class SkeletonError(ValueError):
    """No skeleton can be written; the message says why."""


def check(name: str, file: str, assignment: Assignment) -> None:
    """See that there can be an exercise of this name in this file.

    Raises:
        SkeletonError: there cannot.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise SkeletonError(f"ID={name}: must be a lower-case Python name, such as layer_norm")
    if any(exercise.id == name for exercise in assignment.exercises):
        raise SkeletonError(f"ID={name}: there is such an exercise already")
    extensions = assignment.editable[1:]
    if file not in extensions:
        raise SkeletonError(f"FILE={file}: must be one of {', '.join(extensions)}")


def order_of(assignment: Assignment, file: str, follower: Exercise | None) -> int:
    """Return an `order` that puts an exercise before its follower, or last in its file.

    Raises:
        SkeletonError: no number is left there.
    """
    taken = [one.order for one in assignment.exercises]
    if follower is None:
        last = [one for one in assignment.exercises if one.file == file][-1]
        previous = last.order
        following = min((order for order in taken if order > previous), default=previous + 20)
        where = f"FILE={file}: `order` has no number left after {last.id}"
    else:
        following = follower.order
        previous = max((order for order in taken if order < following), default=0)
        where = f"BEFORE={follower.id}: `order` has no number left before it"
    order = (previous + following) // 2
    if order in taken or order < 1:
        raise SkeletonError(where)
    return order


def with_hole(source: str, hole: str, follower: Exercise | None) -> str:
    """Put a function before the function or class of another exercise, or at the end."""
    if follower is None:
        return f"{source}\n\n{hole}"
    begin, _ = region_of(source, follower.id)
    starts = re.finditer(r"^(?:@.*\n)*(?:def|class) ", source[:begin], re.MULTILINE)
    at = [start.start() for start in starts][-1]
    return f"{source[:at]}{hole}\n\n{source[at:]}"


def with_block(handout: str, block: str, neighbour: Exercise, follows: bool) -> str:
    """Put a problem before the one of another exercise, or after it if it follows that one.

    Raises:
        SkeletonError: there is no such problem.
    """
    pattern = rf"^### Problem \({neighbour.id}\).*?(?=^#{{1,3}} |\Z)"
    found = re.search(pattern, handout, re.MULTILINE | re.DOTALL)
    if found is None:
        raise SkeletonError(f"{HANDOUT}: there is no problem {neighbour.id} to put the new one by")
    at = found.end() if follows else found.start()
    return handout[:at] + block + handout[at:]


def skeleton(
    name: str, file: str, root: Path, assignment: Assignment, before: str | None = None
) -> dict[Path, str]:
    """Return the files of a new exercise and their new texts.

    Args:
        before: the exercise of the same file that it comes before; None puts it last.

    Raises:
        SkeletonError: there cannot be such an exercise, or a file of it is there already.
    """
    check(name, file, assignment)
    neighbours = [one for one in assignment.exercises if one.file == file]
    follower = next((one for one in neighbours if one.id == before), None)
    if before and follower is None:
        raise SkeletonError(f"BEFORE={before}: must be one of the exercises in {file}")
    order = order_of(assignment, file, follower)
    values = {"id": name, "file": file, "module": file.removesuffix(".py"), "order": order}
    case, variants = EXERCISES / f"{name}.py", VARIANTS / f"{name}.py"
    for path in (case, variants):
        if (root / path).exists():
            raise SkeletonError(f"{path}: is there already")
    solution = Path("solution") / file
    source, handout = ((root / path).read_text(encoding="utf-8") for path in (solution, HANDOUT))
    beside, block = follower or neighbours[-1], BLOCK.substitute(values)
    return {
        case: CASE.substitute(values),
        solution: with_hole(source, HOLE.substitute(values), follower),
        variants: VARIANTS_FILE.substitute(values),
        HANDOUT: with_block(handout, block, beside, follows=follower is None),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the four files."""
    parser = argparse.ArgumentParser(prog="exercise", description=__doc__.split("\n")[0])
    parser.add_argument("id", help="of the exercise, such as layer_norm")
    parser.add_argument(
        "--file", default=DEFAULT_FILE, help="of the hole, in solution/ (default: %(default)s)"
    )
    parser.add_argument(
        "--before", help="the exercise of that file that it comes before (default: comes last)"
    )
    options = parser.parse_args(arguments)
    try:
        files = skeleton(options.id, options.file, ROOT, MINBERT, options.before)
    except (SkeletonError, VariantError, OSError) as error:
        print(f"exercise: {error}", file=sys.stderr)
        return 2
    for path, text in files.items():
        write_whole(ROOT / path, text)
        print(f"wrote {path}")
    print(f"next: make try ID={options.id}, while you write; then make starter references handout")
    return 0


if __name__ == "__main__":
    sys.exit(main())
