"""Ways round the list of forbidden library code: each works, except where the code is forbidden."""

import dataclasses
import os
import sys
from collections.abc import Iterator

import pytest

from asking import program_with
from graded import ran
from grader.assignment import ASSIGNMENT
from tensormark.policy import usual_names
from tensormark.sandbox.interface import TIERS, Program, Sandbox
from tensormark.sandbox.tiers import open_sandbox
from tests.helpers import ROOT
from tests.helpers.ways_round import COMPILED, HEAD, OTHERS, WAYS, ask, code
from tiers import marked

POLICY = ASSIGNMENT.policy
NAMES = [*usual_names([*POLICY.forbidden, *POLICY.given_only]).values()]


CODE = code(HEAD, [*WAYS.values(), *OTHERS.values(), *COMPILED.values()])


def guarded(program: Program) -> Program:
    forbidden, given_only = map(usual_names, (POLICY.forbidden, POLICY.given_only))
    return dataclasses.replace(program, forbidden=forbidden, given_only=given_only)


@pytest.fixture(scope="module")
def free() -> Iterator[Sandbox]:
    with open_sandbox("process", program_with(CODE)) as sandbox:
        yield sandbox


@pytest.fixture(scope="module", params=marked(TIERS))
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with open_sandbox(request.param, guarded(program_with(CODE))) as sandbox:
        yield sandbox


@pytest.mark.parametrize("number", range(len(WAYS)), ids=list(WAYS))
def test_a_way_works_where_nothing_is_forbidden(free: Sandbox, number: int) -> None:
    assert ask(free, number).status == "ok"


@pytest.mark.parametrize("number", range(len(WAYS)), ids=list(WAYS))
def test_a_way_is_stopped_where_code_is_forbidden(sandbox: Sandbox, number: int) -> None:
    reply = ask(sandbox, number)

    assert reply.status == "error"
    assert reply.message["forbidden"] in NAMES
    assert f"{reply.message['forbidden']} is not allowed in this assignment: " in reply.text


@pytest.mark.parametrize("number", range(len(COMPILED)), ids=list(COMPILED))
def test_code_that_torch_would_compile_is_stopped(
    free: Sandbox, sandbox: Sandbox, number: int
) -> None:
    assert ask(free, len(WAYS) + len(OTHERS) + number).status == "ok"
    assert ask(sandbox, len(WAYS) + len(OTHERS) + number).status == "error"


@pytest.mark.parametrize("number", range(len(OTHERS)), ids=list(OTHERS))
def test_other_code_of_the_library_still_works(sandbox: Sandbox, number: int) -> None:
    assert ask(sandbox, len(WAYS) + number).status == "ok"


def test_every_forbidden_name_is_in_the_installed_library() -> None:
    paths = [*POLICY.forbidden, *POLICY.given_only]
    paths += [name for exercise in ASSIGNMENT.exercises for name in exercise.forbidden]
    find = (
        "import torch, tokenizer; from tensormark.worker import forbidden;"
        f"print([p for p in {paths} if '.' in p and forbidden.find(p) is None])"
    )

    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'starter'}"}
    assert ran(sys.executable, "-c", find, env=env).stdout == "[]\n"


@pytest.mark.parametrize("name", ["loaded under another name", "its text", "its own module"])
def test_forbidden_code_that_is_loaded_again_is_called_by_its_usual_name(
    sandbox: Sandbox, name: str
) -> None:
    reply = ask(sandbox, list(WAYS).index(name))

    assert reply.message["forbidden"] == "nn.MultiheadAttention"
