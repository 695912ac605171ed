"""Build the students' zip: `python -m instructor.release.build` (`make release`).

Everything is in one folder, minbert/. The bytes of the zip depend only on its files. It is searched
for what students must not get (leaks.py) before it is written.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from grader.files import ROOT, check_replaceable, digest, write_whole
from grader.references import ReferencesError
from grader.zipped import zipped
from instructor.release.contents import ReleaseError, release
from instructor.release.leaks import leaks

FOLDER = "minbert"


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the zip; return the exit status."""
    parser = argparse.ArgumentParser(prog="release", description="Build the students' zip.")
    out = ROOT / "dist" / "minbert.zip"
    parser.add_argument(
        "--out", type=Path, default=out, help="file to write (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    try:
        check_replaceable(options.out, ".zip", "OUT")
        files = release()
        found = leaks(files)
        if found:
            raise ReleaseError("\n".join(["what students must not get:", *map(str, found)]))
        content = zipped({f"{FOLDER}/{name}": inside for name, inside in files.items()})
        write_whole(options.out, content)
    except (ReleaseError, ReferencesError, ValueError, OSError) as error:
        print(f"release: {error}", file=sys.stderr)
        return 2
    size = f"{len(files)} files, {len(content) / 1e6:.1f} MB, sha256 {digest(content)[:16]}"
    print(f"wrote {options.out}: {size}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
