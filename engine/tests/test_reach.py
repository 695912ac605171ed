"""What a submission can import: the same in every tier, and nothing of this repository."""

import functools
import json
from typing import Any

import pytest

from tensormark.sandbox.interface import LOCKED, PROCESS
from tensormark.sandbox.tiers import open_sandbox

from asking import ask, program_with
from tiers import marked, own_tiers

HIDDEN = "tensormark grader starter solution instructor tests conftest harness checkpoint data"
CODE = """
import importlib, importlib.metadata, json, pkgutil, sys
import torch

found = {name.partition(".")[0] for name in sys.modules}
found |= {info.name for info in pkgutil.iter_modules(sys.path)} | {*sys.builtin_module_names}
found -= importlib.metadata.packages_distributions().keys()
found.discard("_remote_module_non_scriptable")  # which torch writes for itself now and then
found.discard("tensormark")  # which an editable installation shows beside the packages
NAMES, MAIN = sorted(found), sorted(vars(sys.modules["__main__"]))


def sent(value):
    return torch.tensor(list(json.dumps(value).encode()))


class Thing(torch.nn.Module):
    def names(self, x):
        return sent(NAMES)

    def main(self, x):
        return sent(MAIN)

    def hidden(self, x):
        found = []
        for name in "HIDDEN".split():
            for imported in (name, f"{name}.worker", f"{name}.main", f"{name}.utils"):
                try:
                    importlib.import_module(imported)
                except ModuleNotFoundError:
                    continue
                found.append(imported)
        return sent(found)
"""


@functools.cache
def result_of(tier: str, method: str) -> Any:
    with open_sandbox(tier, program_with(CODE.replace("HIDDEN", HIDDEN))) as sandbox:
        (reply,) = sandbox.run([ask(method)])
    assert reply.status == "ok", reply.text
    return json.loads(bytes(reply.tensors["out/output"].tolist()))


TIERS = marked([tier for tier in own_tiers() if tier != LOCKED])


@pytest.mark.parametrize("tier", TIERS)
def test_nothing_of_this_repository_can_be_imported(tier: str) -> None:
    assert result_of(tier, "hidden") == []


@pytest.mark.parametrize("tier", TIERS)
def test_the_same_modules_can_be_imported_in_every_tier(tier: str) -> None:
    """Installed packages are left out: the isolating tiers show fewer of them than a laptop has."""
    names = result_of(tier, "names")

    assert names == result_of(PROCESS, "names")
    assert {"math", "main", "given", "sys"} <= set(names)


@pytest.mark.parametrize("tier", TIERS)
def test_the_worker_is_not_the_main_module(tier: str) -> None:
    assert not {"Overlay", "Worker", "Child"}.intersection(result_of(tier, "main"))
