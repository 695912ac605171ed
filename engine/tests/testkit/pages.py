"""Follows the engine's pages: runs their commands, writes their files and functions."""

import re
from pathlib import Path
from typing import NamedTuple

import tensormark
from testkit.graded import ran

ENGINE = Path(__file__).resolve().parents[2]
PAGE = Path(tensormark.__file__).parent / "docs" / "first_assignment.md"
README = ENGINE / "README.md"
FENCE = re.compile(r"^(?:<!-- (\w+): (\S+) -->\n)?```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """One block.

    Attributes:
        kind, path: from the comment before it: what to do with it, and in which file.
    """

    kind: str | None
    path: str | None
    language: str
    text: str


def blocks(page):
    return [Block(*groups) for groups in FENCE.findall(page.read_text("utf-8"))]


def steps(text):
    """Yield the commands of a console block, each with the output shown below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def pattern(output):
    """Return a regex for an output, in which `...` is part of a line or any number of lines."""
    lines = []
    for line in output.splitlines():
        words = ".*".join(re.escape(part) for part in line.split("..."))
        lines.append(r"(?:.*\n)*?" if line == "..." else words + r" *\n")
    return "".join(lines)


# how a function or a problem begins, and what is replaced by another of the same name
PARTS = {
    "function": (r"def (\w+)", r"^def {0}\(.*?### END SOLUTION {0}\n"),
    "problem": (r"### Problem \((\w+)\)", r"^### Problem \({0}\).*?(?=^### )"),
}


def run(command, output, folder, environment):
    """Run a command, and compare what it prints."""
    process = ran("sh", "-c", command, cwd=folder, env=environment)
    actual = f"$ {command}\n{process.stdout}{process.stderr}"
    assert process.returncode == 0, actual
    assert re.fullmatch(pattern(output), process.stdout), f"{actual}\nthe page has:\n{output}"


def write(block, file):
    """Replace a file, or the function or problem of the same name in it."""
    source = file.read_text("utf-8")
    text = block.text
    if block.kind != "file":
        head, whole = PARTS[block.kind]
        part = whole.format(re.match(head, text)[1])
        text, count = re.subn(part, lambda _: f"{block.text}\n", source, flags=re.M | re.S)
        assert count == 1
    file.write_text(text, "utf-8")


def follow(page, folder, environment):
    """Do what a page says, starting in a folder; return the folder where it ends."""
    for block in blocks(page):
        if block.language != "console":
            write(block, folder / block.path)
            continue
        for command, output in steps(block.text):
            if command.startswith("cd "):
                folder /= command.removeprefix("cd ")
            else:
                run(command, output, folder, environment)
    return folder
