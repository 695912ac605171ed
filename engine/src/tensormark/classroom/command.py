"""Grade a class: `tensormark class SUBMISSIONS`.

Exit status: 0 if everything was graded, whatever its score; 2 if there is nothing to grade, an
option is invalid, or the run cannot continue; 3 if something could not be graded; 130 if the run
was interrupted. After 2, 3 and 130 the same command continues where it stopped, or starts over with
`--force`.
"""

from collections.abc import Sequence
from pathlib import Path

from tensormark.classroom.appeal import appeal
from tensormark.classroom.jobs.store import Store, only_run
from tensormark.classroom.options import STORE, parse
from tensormark.classroom.run import Run
from tensormark.folder import open_assignment
from tensormark.reports.text import print_any_letter


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Grade the submissions that the command line names; return the exit status."""
    print_any_letter()
    options = parse(folder, name, arguments)
    assignment = open_assignment(folder)
    with only_run(options.out), Store(options.out / STORE) as store:
        run = Run(options, store, assignment)
        return run.everybody() if options.only is None else appeal(run, options.only)
