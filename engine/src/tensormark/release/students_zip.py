"""Build the students' zip: `tensormark release`.

Everything is in one folder, which has the assignment's name. No file is included just because it
exists: each is declared, in the manifest of the public references, or derived here. The starter
comes from the solution, so that an edited starter/ cannot get in. The bytes of the zip depend only
on its files. Before it is written, it is searched for what students must not get (leaks.py).
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tensormark.authoring.course import Course, open_course, require_current
from tensormark.authoring.handout import disagreements
from tensormark.authoring.strip import derive
from tensormark.exercise import Assignment
from tensormark.files import digest, write_whole
from tensormark.folder import open_assignment
from tensormark.handout import MAIN
from tensormark.intake.given_files import PRISTINE
from tensormark.references import References
from tensormark.release.given_out import Release, copied, only_students, own_code
from tensormark.release.leaks import leaks
from tensormark.usage import UserError, command, near, parser
from tensormark.wheel import wheel
from tensormark.zipped import check_zip, zipped

PAGE = "handout.html"  # rendered from handout.md; its other pages are named alike
FOR_PAGES = ("latex2mathml", "markdown_it", "mdit_py_plugins")  # packages
README = """# {name}

You need Python 3.11 or newer. Once, in this folder:

    python3 -m venv .venv
    .venv/bin/python -m pip install -r requirements.txt {wheel}

The assignment is in `{handout}`. Write the parts marked `TODO` in `starter/`, and check them as
often as you like:

    .venv/bin/tensormark check     # without training: seconds
    .venv/bin/tensormark grade     # everything
    .venv/bin/tensormark submit    # pack submission.zip, which you hand in, and grade it
"""


def _declared(assignment: Assignment, release: Release) -> Iterator[tuple[str, bytes]]:
    """Yield the declared files, as they are or as an edition for students."""
    for name, path in copied(assignment, release).items():
        content = path.read_bytes()
        if name in release.edited:
            content = release.edited[name](name, content.decode("utf-8")).encode()
        yield name, content
    for name, path in only_students(assignment, release).items():
        yield name, path.read_bytes()


def _starter(assignment: Assignment, references: References) -> Iterator[tuple[str, bytes]]:
    """Yield the starter, and a copy of it that students do not edit.

    Raises:
        UserError: the references were recorded with another starter.
    """
    files = {name: text.encode() for name, text in derive(assignment).items()}
    if {name: digest(content) for name, content in files.items()} != references.manifest["starter"]:
        fix = f"run `{command('starter')}` and `{command('references')}`"
        raise UserError(f"the starter differs from the recorded one; {fix}")
    yield from ((f"starter/{name}", content) for name, content in files.items())
    yield PRISTINE, zipped(files)


def _public_references(references: References) -> Iterator[tuple[str, bytes]]:
    """Yield the public references: the files that the manifest lists, and no others.

    Raises:
        UserError: they are private. ReferencesError: they are damaged.
    """
    if references.private:
        fix = f"run `{command('references')}`"
        raise UserError(f"{references.folder} has private inputs; {fix}")
    for name, content in references.files():
        yield f"reference_outputs/{name}", content


def _pages(assignment: Assignment) -> Iterator[tuple[str, bytes]]:
    """Yield the handout's pages as HTML, if what renders them is installed."""
    try:
        from tensormark.release.handout_html import html_of
    except ModuleNotFoundError as error:
        if error.name not in FOR_PAGES:
            raise
        return
    pages = assignment.handout.read()
    for page in pages:
        rendered = html_of(pages, page, assignment.folder)
        yield f"{page.removesuffix('.md')}.html", rendered.encode()


def contents(course: Course) -> dict[str, bytes]:
    """Return every file of a release, by its path.

    Raises:
        UserError, ValueError, OSError: something that it is made from is missing or out of date.
    """
    assignment = course.assignment
    references = References(assignment.references)
    require_current(course, references)
    references.check_checkpoint(assignment.checkpoint)
    references.check_data(assignment.data, references.manifest["data"])
    wrong = disagreements(assignment.handout.read(), course)
    if wrong:
        path = assignment.handout.folder / MAIN
        raise UserError(f"{path}: {wrong[0]}")
    files = dict(_declared(assignment, course.staff.release))
    files |= _starter(assignment, references)
    files |= _public_references(references)
    files |= _pages(assignment)
    engine = f"engine/{wheel().name}"
    files[engine] = wheel().content
    handout = PAGE if PAGE in files else MAIN
    readme = README.format(name=assignment.name, wheel=engine, handout=handout)
    return {"README.md": readme.encode()} | files


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Build the zip; return the exit status."""
    command_line = parser(name, "Build the students' zip.")
    about = "file to write (default: dist/ and the assignment's name)"
    command_line.add_argument("--out", type=Path, help=about)
    options = command_line.parse_args(arguments)
    assignment = open_assignment(folder)
    out = options.out or Path(near(folder / "dist" / f"{assignment.slug}.zip"))
    check_zip(out, name)
    try:
        course = open_course(assignment)
        files = contents(course)
        leaked = list(leaks(course, files))
    except ValueError as error:
        raise UserError(str(error)) from error
    if leaked:
        print(f"{name}: students must not get this:", *leaked, sep="\n", file=sys.stderr)
        return 2
    packed = {f"{assignment.slug}/{path}": content for path, content in files.items()}
    archive = zipped(packed, command=name)
    write_whole(out, archive)
    own = [path.relative_to(folder).as_posix() for path in own_code(folder)]
    kept = [path for path in own if path not in files]
    if kept:
        print(f"for staff only: {', '.join(kept)}; Release(copied=...) names what students get")
    if PAGE not in files:
        print(f"without {PAGE}, which needs `pip install 'tensormark[handout]'`")
    size = f"{len(files)} files, {len(archive) / 1e6:.1f} MB, sha256 {digest(archive)[:16]}"
    print(f"wrote {out}: {size}")
    return 0
