"""What a submission can import: the same in every tier, and nothing of this repository."""

import functools
import json

import pytest

from tensormark.sandbox.interface import LOCKED, PROCESS, TIERS
from testkit.asking import ask, sandbox_of
from testkit.tiers import marked

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


class Thing(torch.nn.Module):
    def look(self, x):
        hidden = []
        for name in "HIDDEN".split():
            for imported in (name, f"{name}.worker", f"{name}.main", f"{name}.utils"):
                try:
                    importlib.import_module(imported)
                except ModuleNotFoundError:
                    continue
                hidden.append(imported)
        seen = {"names": NAMES, "main": MAIN, "hidden": hidden}
        return torch.tensor(list(json.dumps(seen).encode()))
"""


@functools.cache
def seen_in(tier: str) -> dict[str, list[str]]:
    """Return names that a submission sees there: of modules, of __main__, and of what is hidden."""
    with sandbox_of(tier, CODE.replace("HIDDEN", HIDDEN)) as sandbox:
        (reply,) = sandbox.run([ask("look")])
    assert reply.status == "ok", reply.text
    return json.loads(bytes(reply.tensors["out/output"].tolist()))


UNLOCKED = marked([tier for tier in TIERS if tier != LOCKED])


@pytest.mark.parametrize("tier", UNLOCKED)
def test_nothing_of_this_repository_can_be_imported(tier: str) -> None:
    assert seen_in(tier)["hidden"] == []


@pytest.mark.parametrize("tier", UNLOCKED)
def test_the_same_modules_can_be_imported_in_every_tier(tier: str) -> None:
    """Installed packages are left out: the isolating tiers show fewer of them than a laptop has."""
    names = seen_in(tier)["names"]

    assert names == seen_in(PROCESS)["names"]
    assert {"math", "main", "given", "sys"} <= set(names)


@pytest.mark.parametrize("tier", UNLOCKED)
def test_the_worker_is_not_the_main_module(tier: str) -> None:
    assert not {"Overlay", "serve", "Child"}.intersection(seen_in(tier)["main"])
