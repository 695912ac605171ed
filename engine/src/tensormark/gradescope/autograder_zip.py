"""Build Gradescope's autograder: `tensormark gradescope`.

    setup.sh, run_autograder   what Gradescope runs
    limit                      Gradescope's time limit in seconds
    engine/                    this distribution as a wheel
    assignment/                code, starter, solution, checkpoint, data and private references

The zip is for Gradescope only: anyone who has it has the solution.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from tensormark.exercise import Assignment
from tensormark.files import for_staff, write_whole
from tensormark.folder import open_assignment
from tensormark.gradescope.autograder import (
    ALWAYS,
    CONSTRAINTS,
    DUE,
    LEAST_TIER,
    REFERENCES,
    VERDICTS,
)
from tensormark.references import References
from tensormark.release.given_out import deciding, graded_from
from tensormark.sandbox.packages import installed, requirement_names
from tensormark.sandbox.tiers import LOCKED, PROCESS
from tensormark.usage import UserError, command, near, option, parser
from tensormark.wheel import NAME, wheel
from tensormark.zipped import check_zip, zipped

HERE = Path(__file__).resolve().parent
SCRIPTS = ("setup.sh", "run_autograder")
# when students see verdicts, or how often a day, and what is said of that
SHOWN = {
    ALWAYS: "at once, however often they submit; {} or {} limits that",
    DUE: "after the due date",
}
OFTEN = "for their first {} submissions of a day, and for all after the due date"
MARGIN = 120  # seconds: a limit below this leaves no time to grade


def _normal_name(name: str) -> str:
    """Return a package's name in the form that package indexes compare."""
    return name.lower().replace("_", "-")


def _constraints(requirements: Path) -> str:
    """Return pins to the versions installed here, for all packages except the required ones."""
    direct = [*requirement_names(requirements), NAME]
    pins = {
        _normal_name(distribution.metadata["Name"]): distribution.version.partition("+")[0]
        for distribution in installed(direct, sys.path).values()
    }
    pinned = set(map(_normal_name, direct))
    return "".join(f"{name}=={pins[name]}\n" for name in sorted(pins.keys() - pinned))


def _private_references(assignment: Assignment, folder: Path) -> dict[str, bytes]:
    """Return the private references, checked against their manifest."""
    references = References(folder, assignment.references)
    references.check_solution(assignment.solution)
    if not references.private:
        fix = command("references", seed="number", out="reference_outputs/private")
        raise UserError(
            f"{option('references', folder)}: every student has these; record private ones with "
            f"`{fix}`"
        )
    references.check_checkpoint(assignment.checkpoint)
    references.check_data(assignment.data, assignment.data_files)
    return dict(references.files())


def _verdicts(text: str) -> str:
    """Read when students see verdicts."""
    if text not in SHOWN and not (text.isascii() and text.isdecimal() and int(text) > 0):
        fix = f"must be {ALWAYS}, {DUE}, or how many submissions of a day have verdicts"
        raise UserError(f"{option('verdicts', text)}: {fix}")
    return text


def _autograder(
    assignment: Assignment, references: Path, least: str, limit: int, verdicts: str
) -> dict[str, bytes]:
    """Return the files of the autograder's zip."""
    folder = assignment.folder
    names = graded_from(assignment)
    if assignment.leaderboard:
        names.append(assignment.leaderboard.test.data)
    paths = deciding(folder) + [folder / name for name in names]
    files = {f"assignment/{p.relative_to(folder).as_posix()}": p.read_bytes() for p in paths}
    for name, content in _private_references(assignment, references).items():
        files[f"assignment/{REFERENCES}/{name}"] = content
    files[f"assignment/{CONSTRAINTS}"] = _constraints(assignment.requirements).encode()
    files[f"assignment/{LEAST_TIER}"] = f"{least}\n".encode()
    files[f"assignment/{VERDICTS}"] = f"{verdicts}\n".encode()
    for name in SCRIPTS:
        files[name] = (HERE / name).read_bytes()
    files[f"engine/{wheel().name}"] = wheel().content
    files["limit"] = f"{limit}\n".encode()
    return files


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Build the zip; return the exit status."""
    command_line = parser(name, "Build Gradescope's zip.")
    add = command_line.add_argument
    default = "(default: %(default)s)"
    add("--references", type=Path, help="folder of private references")
    about = f"the weakest tier that may be used {default}"
    add("--tier", default=LOCKED, choices=(LOCKED, PROCESS), help=about)
    add("--limit", type=int, default=600, help=f"Gradescope's time limit in seconds {default}")
    about = f"when students see verdicts: {ALWAYS}, {DUE}, or how many times a day {default}"
    add("--verdicts", type=_verdicts, default=ALWAYS, help=about)
    out = Path(near(folder / "dist" / "autograder.zip"))
    add("--out", type=Path, default=out, help=f"file to write {default}")
    options = command_line.parse_args(arguments)
    check_zip(options.out, name)
    if options.references is None:
        raise UserError(f"{option('references')} is missing: a folder of private references")
    if options.limit < MARGIN:
        raise UserError(f"{option('limit', options.limit)}: must be {MARGIN} seconds or more")
    assignment = open_assignment(folder)
    verdicts = options.verdicts
    files = _autograder(assignment, options.references, options.tier, options.limit, verdicts)
    content = zipped(files, programs=SCRIPTS, command=name)
    with for_staff():
        write_whole(options.out, content)
    says = SHOWN.get(verdicts, OFTEN.format(verdicts))
    says = says.format(option("verdicts", DUE), option("verdicts", 3))
    print(f"students see verdicts on private inputs {says}")
    print(f"wrote {options.out}: {len(files)} files, {len(content) / 1e6:.1f} MB; for staff only")
    return 0
