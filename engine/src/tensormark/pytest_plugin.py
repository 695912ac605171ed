"""A pytest plugin that proves an assignment's claims: `pytest --assignment FOLDER`.

It adds a test for each claim in authoring/prove.py, and nothing without the option.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:  # every run of pytest loads this file, but not every run needs numpy and torch
    from tensormark.authoring.course import Course
    from tensormark.authoring.prove import Bench, Claim

BENCH: "pytest.StashKey[Bench]" = pytest.StashKey()


class Disproved(Exception):
    """A claim is false; the message says why."""


class ClaimItem(pytest.Item):
    """The test of one claim."""

    claim: "Claim"
    course: "Course"

    def runtest(self) -> None:
        """Grade what the claim is about.

        Raises:
            Disproved: the claim is false.
        """
        from tensormark.authoring.prove import Bench
        from tensormark.authoring.variants import VariantError
        from tensormark.references import ReferencesError

        try:
            if BENCH not in self.config.stash:
                self.config.stash[BENCH] = Bench(self.course)
            fault = self.config.stash[BENCH].fault(self.claim)
        except (VariantError, ReferencesError) as error:
            fault = str(error)
        if fault is not None:
            raise Disproved(fault)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the text of a failure."""
        if isinstance(excinfo.value, Disproved):
            return f"{self.name}: {excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the test's location and name."""
        return self.path, None, self.name


class Claims(pytest.Collector):
    """All claims of an assignment."""

    def collect(self) -> Iterator[ClaimItem]:
        """Yield a test for each claim.

        Raises:
            CollectError: there is no assignment, or it cannot be opened.
        """
        from tensormark.authoring.course import open_course
        from tensormark.authoring.prove import claims
        from tensormark.authoring.variants import VariantError
        from tensormark.folder import AssignmentError, find, open_assignment

        try:
            course = open_course(open_assignment(find(self.path)))
        except (AssignmentError, VariantError) as error:
            raise self.CollectError(str(error)) from error
        for claim in claims(course):
            item = ClaimItem.from_parent(self, name=claim.name)
            item.claim = claim
            item.course = course
            yield item


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --assignment."""
    text = "prove the assignment in this folder: known mistakes are named, correct code passes"
    group = parser.getgroup("tensormark")
    group.addoption("--assignment", type=Path, metavar="FOLDER", help=text)


@pytest.hookimpl(tryfirst=True)  # so that -k chooses among these too
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add the tests of the assignment that --assignment names."""
    folder = config.getoption("assignment")
    if folder is not None:
        path = folder.resolve()
        parent = Claims.from_parent(session, name="assignment", path=path, nodeid="assignment")
        report = session.ihook.pytest_make_collect_report(collector=parent)
        session.ihook.pytest_collectreport(report=report)
        items.extend(report.result or ())


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the worker."""
    if BENCH in config.stash:
        config.stash[BENCH].close()
