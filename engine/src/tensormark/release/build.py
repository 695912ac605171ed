"""Build the students' zip: `tensormark release`.

Everything is in one folder, which has the assignment's name. The bytes of the zip depend only on
its files. Before it is written, it is checked for leaked material (leaks.py).
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from tensormark.authoring.course import open_course
from tensormark.files import digest, write_whole
from tensormark.folder import open_assignment
from tensormark.release.contents import PAGE, contents
from tensormark.release.given_out import for_staff
from tensormark.release.leaks import leaks
from tensormark.release.secrets import Secrets
from tensormark.usage import UserError, parser
from tensormark.zipped import check_zip, zipped


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Build the zip; return the exit status."""
    assignment = open_assignment(folder)
    command_line = parser(name, "Build the students' zip.")
    out = folder / "dist" / f"{assignment.slug}.zip"
    command_line.add_argument(
        "--out", type=Path, default=out, help="file to write (default: %(default)s)"
    )
    options = command_line.parse_args(arguments)
    check_zip(options.out, name)
    try:
        course = open_course(assignment)
        files = contents(course)
        leaked = leaks(Secrets(course), files)
    except ValueError as error:
        raise UserError(str(error)) from error
    if leaked:
        print(f"{name}: students must not get this:", *leaked, sep="\n", file=sys.stderr)
        return 2
    packed = {f"{assignment.slug}/{path}": content for path, content in files.items()}
    archive = zipped(packed, command=name)
    write_whole(options.out, archive)
    kept = [path.relative_to(folder).as_posix() for path in for_staff(folder)]
    if kept := [path for path in kept if path not in files]:
        print(f"for staff only: {', '.join(kept)}; Release(copied=...) names what students get")
    if PAGE not in files:
        print(f"without {PAGE}, which needs `pip install 'tensormark[handout]'`")
    size = f"{len(files)} files, {len(archive) / 1e6:.1f} MB, sha256 {digest(archive)[:16]}"
    print(f"wrote {options.out}: {size}")
    return 0
