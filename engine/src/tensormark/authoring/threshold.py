"""Measure a task's threshold: `tensormark threshold ID`.

      solution                           passes 5 of 5   0.960 to 1.000
      mistake bias_forgotten             passes 3 of 5   0.885 to 0.940

The task is graded alone, as if what is upstream were right: with the solution, with right code that
is written differently, and with each known mistake. It runs with several seeds in place of that of
the references, and that of its own threshold if it has one. Right code that fails is marked `!`.
"""

import contextlib
import functools
from collections.abc import Sequence
from pathlib import Path

from tensormark.authoring.course import open_course
from tensormark.authoring.prove import Bench, claims
from tensormark.folder import open_assignment
from tensormark.result import Outcome, Result
from tensormark.settings import Settings, whole_number
from tensormark.usage import UserError, option, parser

MOST = 1000  # seeds


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Print a line for the solution, and for each variant of it."""
    command_line = parser(name, "Measure a task with several seeds, and with each known mistake.")
    command_line.add_argument("id", help="id of the task, such as detection")
    count = functools.partial(whole_number, "seeds", MOST)
    command_line.add_argument("--seeds", type=count, default=5, help="number of seeds (default: 5)")
    options = command_line.parse_args(arguments)
    course = open_course(open_assignment(folder))
    tasks = [each for each in course.assignment.exercises if each.id == options.id and each.task]
    if not tasks:
        raise UserError(f"{option('id', options.id)}: there is no such task")
    wrong = 0
    with contextlib.closing(Bench(course, Settings.of(folder), tasks)) as bench:
        references = bench.grading.references
        assert references is not None
        own = references.manifest.get(getattr(tasks[0].task, "entry", ""))
        for claim in claims(course):
            if claim.name == "starter":
                continue
            results: list[Result] = []
            for seed in range(options.seeds):
                for entry in (references.manifest, own):
                    if isinstance(entry, dict):
                        entry["seed"] = seed
                results += bench.results(claim.sources, tasks=True).values()
            passed = sum(result.outcome is Outcome.PASSED for result in results)
            values = [result.measured["value"] for result in results if result.measured]
            fails = passed < len(results) and not claim.name.startswith("mistake ")
            reached = f"{min(values):.3f} to {max(values):.3f}" if values else ""
            line = f"{'!' if fails else ' '} {claim.name:40} passes {passed} of {len(results)}"
            print(f"{line}   {reached}", flush=True)
            wrong += fails
    return 1 if wrong else 0
