"""What pytest does in a special way: submissions take turns, tiers may be missing."""

import re
from typing import Any

import pytest

import tiers


@pytest.hookimpl(optionalhook=True)  # without pytest-xdist nothing calls it
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give what shares costly fixtures to one worker of pytest-xdist: a file, or a place.

    Marks with the name of a group would say the same, but pytest-xdist 3.8 loses them with pytest
    9.2: it writes them into an attribute of the test that is no longer read.
    """
    if config.getvalue("dist") != "loadgroup":
        return None
    # by the number of its tests, a file with one that takes minutes would begin when all else ends
    config.option.loadscopereorder = False
    from xdist.scheduler import LoadScopeScheduling

    class ByPlace(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file, _, name = nodeid.partition("::")
            place = re.search(r"\[((?:contained|locked)(?:-root|-user)?)\b", name)
            return f"{file} {place[1]}" if place and "hostile" in file else file

    return ByPlace(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    """Leave out submissions that have their turn in another place; see tests/hostile."""
    chosen, others = [], []
    for item in items:
        turns = item.get_closest_marker("in_turns")
        spec = item.callspec if turns else None
        has_turn = not spec or tiers.has_turn(spec.params["place"], spec.indices["hostile"])
        (chosen if has_turn else others).append(item)
    items[:] = chosen
    if others:
        config.hook.pytest_deselected(items=others)


def pytest_sessionstart(session: pytest.Session) -> None:
    """End at once where tiers are required and this machine lacks one."""
    in_worker = hasattr(session.config, "workerinput")  # of pytest-xdist
    if not in_worker and (lines := tiers.required_but_missing()):
        raise pytest.UsageError("\n".join(f"REQUIRE_TIERS=all, but {line}" for line in lines))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what needs a tier that this machine lacks; `-r s` says so once for each tier."""
    marker = item.get_closest_marker("tier")
    if marker and not tiers.REQUIRED and (line := tiers.missing(marker.args[0])):
        pytest.skip(line)
