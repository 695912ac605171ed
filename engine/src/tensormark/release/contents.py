"""What students get: the files of a release, by name.

No file is included just because it exists: each is declared, in the manifest of the public
references, or derived here. The starter comes from the solution, so that an edited starter/ cannot
get in.
"""

import importlib.util
from collections.abc import Iterator

from tensormark.authoring.course import Course
from tensormark.authoring.handout import disagreements
from tensormark.authoring.strip import derive
from tensormark.exercise import Assignment
from tensormark.files import digest
from tensormark.handout import MAIN
from tensormark.intake.given_files import PRISTINE
from tensormark.references import References
from tensormark.release.given_out import Release, copied, only_students
from tensormark.usage import UserError, command
from tensormark.wheel import wheel
from tensormark.zipped import zipped

PAGE = "handout.html"  # rendered from handout.md; its other pages are named alike
ENGINE = "engine"  # the folder of the wheel
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
NEEDED = ("latex2mathml", "markdown_it", "mdit_py_plugins")  # only for the page


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


def _declared(assignment: Assignment, release: Release) -> Iterator[tuple[str, bytes]]:
    """Yield the declared files, as they are or as an edition for students."""
    for name, path in copied(assignment, release).items():
        content = path.read_bytes()
        if edition := release.edited.get(name):
            content = edition(name, content.decode("utf-8")).encode()
        yield name, content
    for name, path in only_students(assignment, release).items():
        yield name, path.read_bytes()


def _page(assignment: Assignment) -> Iterator[tuple[str, bytes]]:
    """Yield the handout's pages as HTML, if what renders them is installed."""
    if all(importlib.util.find_spec(name) is not None for name in NEEDED):
        from tensormark.release.page import html_of

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
    references.check_checkpoint(assignment.checkpoint)
    references.check_data(assignment.data, references.manifest["data"])
    if wrong := disagreements(assignment.handout.read(), course):
        raise UserError(
            f"{assignment.handout.folder / MAIN}: {wrong[0]}; run `{command('handout')}`"
        )
    files = dict(_declared(assignment, course.staff.release))
    files |= _starter(assignment, references)
    files |= _public_references(references)
    files |= _page(assignment)
    path = f"{ENGINE}/{wheel().name}"
    files[path] = wheel().content
    if "README.md" not in files:
        handout = PAGE if PAGE in files else "handout.md"
        text = README.format(name=assignment.name, wheel=path, handout=handout)
        files["README.md"] = text.encode()
    return files
