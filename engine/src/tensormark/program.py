"""The program that a sandbox runs: an assignment's files with a submission's, or the solution's."""

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from importlib.util import find_spec

from tensormark.exercise import Assignment, Exercise
from tensormark.policy import Policy
from tensormark.sandbox.interface import Program
from tensormark.sandbox.packages import modules
from tensormark.settings import Settings
from tensormark.usage import UserError


def program_of(
    assignment: Assignment,
    exercises: Sequence[Exercise],
    sources: Mapping[str, str],
    settings: Settings,
    faults: Collection[str] = (),
    given: Mapping[str, str] | None = None,
) -> Program:
    """Return the program that a sandbox runs to grade these exercises.

    Args:
        faults: modules that cannot be imported.
        given: see `Program`.

    Raises:
        UserError: the assignment needs torch, and it is not installed, or not listed.
    """
    if assignment.uses_torch and find_spec("torch") is None:
        fix = 'run `pip install "tensormark[torch]"`, or give each exercise arrays="numpy"'
        raise UserError(f"{assignment.name} computes with torch, which is not installed; {fix}")
    listed = modules(assignment.requirements)
    if assignment.uses_torch and listed and "torch" not in listed:
        fix = 'list it, or give each exercise arrays="numpy"'
        raise UserError(f"requirements.txt has no torch, which an exercise computes with: {fix}")
    needed = dict.fromkeys(assignment.imports)
    for exercise in exercises:
        needed |= dict.fromkeys(exercise.imports)
    return Program(
        main_file=assignment.main_file,
        editable=assignment.editable,
        sources=sources,
        imports=tuple(module for module in needed if module not in faults),
        harness=assignment.harness,
        requirements=assignment.requirements,
        checkpoint=settings.checkpoint,
        threads=settings.threads,
        limits=settings.limits,
        policy=assignment.policy,
        rules=assignment.rules,
        budget=settings.budget,
        given=given or {},
    )


def solution_of(program: Program, assignment: Assignment) -> Program:
    """Return a submission's program with the solution's code instead."""
    sources = assignment.solution_sources
    return dataclasses.replace(program, sources=sources, policy=Policy())
