"""Who grades a class: this process, or Dask's workers."""

import argparse
import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from tensormark.classroom import one_process
from tensormark.classroom.engine import Crew
from tensormark.classroom.failure import RunError
from tensormark.classroom.parcel import Parcel
from tensormark.classroom.work import Terms
from tensormark.usage import option


@contextlib.contextmanager
def opened_crew(
    options: argparse.Namespace,
    terms: Terms,
    parcel: Parcel,
    assignment: Path,
    say: Callable[[str], None],
) -> Iterator[Crew]:
    """Open those who grade; with one worker and no scheduler that is this process.

    Args:
        assignment: its folder.
        say: prints a line.

    Raises:
        ClusterError: there is no such scheduler. RunError: Dask is needed, and not installed.
    """
    if options.workers == 1 and not options.scheduler:
        with one_process.opened(terms, parcel, assignment) as alone:
            yield alone
        return
    try:  # here, because importing Dask takes time
        from tensormark.classroom import cluster
    except ModuleNotFoundError as error:
        more = f"{option('workers', 1)} does without; or pip install 'tensormark[class]'"
        raise RunError(f"{error}; {more}") from error
    with cluster.opened(options.scheduler, options.workers, assignment) as client:
        yield cluster.Crew(client, terms, parcel, not options.scheduler, say)
