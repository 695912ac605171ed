"""Build Gradescope's autograder: `python -m instructor.gradescope.build` (`make gradescope`).

setup.sh and run_autograder are at the root of the zip. Everything else is below minbert/: grader,
starter, solution, checkpoint, data and private references. The zip is for Gradescope only: whoever
has it has the solution.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution
from pathlib import Path

from grader.assignment.sentiment import DATA
from grader.files import ROOT, check_replaceable, write_whole
from grader.references import References, ReferencesError
from grader.sandbox.interface import LOCKED, PROCESS
from grader.sandbox.packages import REQUIREMENTS, installed, listed
from grader.settings import CHECKPOINT
from grader.zipped import zipped
from instructor.release.given_out import given

HERE = Path(__file__).resolve().parent
SCRIPTS = ("setup.sh", "run_autograder")
COPIED = (
    "grader/**/* starter/*.py solution/*.py checkpoint/*.json checkpoint/*.safetensors "
    "checkpoint/*.txt requirements.txt instructor/__init__.py instructor/gradescope/__init__.py "
    "instructor/gradescope/run.py reference_outputs/manifest.json"
)
MARGIN = 120  # seconds: a limit below this leaves no time to grade


class BuildError(Exception):
    """The autograder cannot be built; the message gives the fix."""


def constraints(found: Sequence[Distribution]) -> str:
    """Return pins of what the requirements need themselves, in the versions installed here."""
    direct = {name.lower().replace("_", "-") for name in listed(REQUIREMENTS)}
    pins = {
        name: one.version.partition("+")[0]
        for one in found
        if (name := one.metadata["Name"].lower().replace("_", "-")) not in direct
    }
    return "".join(f"{name}=={pin}\n" for name, pin in sorted(pins.items()))


def below(folder: Path, root: Path = ROOT) -> Iterator[tuple[str, bytes]]:
    """Yield the private references, checked against their manifest.

    Raises:
        BuildError: they are public. ReferencesError: they are damaged.
    """
    references = References(folder)
    if not references.private:
        raise BuildError(
            f"REFERENCES={folder}: every student has these; record private ones with "
            "`make references SEED=number OUT=reference_outputs/private`"
        )
    references.check_checkpoint(CHECKPOINT)
    references.check_data(root / "data", DATA)
    for name, content in references.files():
        yield f"references/{name}", content


def autograder(references: Path, least: str, limit: int) -> dict[str, bytes]:
    """Return the files of the autograder's zip.

    Raises:
        BuildError, ReferencesError, OSError: something is missing or not up to date.
    """
    patterns = [*COPIED.split(), *(f"data/{name}" for name in DATA)]
    paths = [path for pattern in patterns for path in sorted(ROOT.glob(pattern)) if given(path)]
    files = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in paths}
    files |= below(references)
    files["constraints.txt"] = constraints(installed(listed(REQUIREMENTS), sys.path)).encode()
    files["least-tier"] = f"{least}\n".encode()
    made = {f"minbert/{name}": content for name, content in files.items()}
    made |= {name: (HERE / name).read_bytes() for name in SCRIPTS}
    return made | {"limit": f"{limit}\n".encode()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the zip; return the exit status."""
    parser = argparse.ArgumentParser(prog="gradescope", description="Build Gradescope's zip.")
    parser.add_argument("--references", type=Path, help="folder of private references")
    parser.add_argument(
        "--tier",
        default=LOCKED,
        choices=(LOCKED, PROCESS),
        help="the weakest tier that may be used (default: %(default)s)",
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=600,
        help="seconds that Gradescope gives (default: %(default)s)",
    )
    out = ROOT / "dist" / "autograder.zip"
    parser.add_argument(
        "--out", type=Path, default=out, help="file to write (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    try:
        check_replaceable(options.out, ".zip", "OUT")
        if options.references is None:
            raise BuildError("REFERENCES= is missing: a folder of private references")
        if options.limit < MARGIN:
            raise BuildError(f"LIMIT={options.limit}: must be {MARGIN} seconds or more")
        files = autograder(options.references, options.tier, options.limit)
        content = zipped(files, programs=SCRIPTS)
        write_whole(options.out, content)
    except (BuildError, ReferencesError, OSError) as error:
        print(f"gradescope: {error}", file=sys.stderr)
        return 2
    print(f"wrote {options.out}: {len(files)} files, {len(content) / 1e6:.1f} MB; for staff only")
    return 0


if __name__ == "__main__":
    sys.exit(main())
