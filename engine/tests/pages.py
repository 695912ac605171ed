"""Follows the engine's pages: runs their commands, writes their files and functions."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from graded import ran

ENGINE = Path(__file__).resolve().parents[1]
PAGE = ENGINE / "docs" / "first_assignment.md"
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


def blocks(page: Path) -> list[Block]:
    return [Block(*groups) for groups in FENCE.findall(page.read_text("utf-8"))]


def steps(text: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a console block, each with the output shown below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def pattern(output: str) -> str:
    """Return a regex for an output, in which `...` is part of a line or any number of lines."""
    lines = []
    for line in output.splitlines():
        words = ".*".join(re.escape(part) for part in line.split("..."))
        lines.append(r"(?:.*\n)*?" if line == "..." else words + r" *\n")
    return "".join(lines)


class Reader:
    """Does what a page says.

    Attributes:
        folder: the current one.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self.environment = environment

    def run(self, command: str, output: str) -> None:
        """Run a command, and compare what it prints."""
        if command.startswith("cd "):
            self.folder /= command.removeprefix("cd ")
            return
        process = ran("sh", "-c", command, cwd=self.folder, env=self.environment)
        actual = f"$ {command}\n{process.stdout}{process.stderr}"
        assert process.returncode == 0, actual
        assert re.fullmatch(pattern(output), process.stdout), f"{actual}\nthe page has:\n{output}"

    def function(self, path: str, text: str) -> None:
        """Replace the function of the same name."""
        file = self.folder / path
        source = file.read_text("utf-8")
        (new,) = ast.parse(text).body
        (old,) = (
            node
            for node in ast.parse(source).body
            if isinstance(node, ast.FunctionDef) and node.name == new.name
        )
        lines = source.splitlines(keepends=True)
        end = next(n for n in range(len(lines)) if f"### END SOLUTION {new.name}" in lines[n])
        file.write_text("".join([*lines[: old.lineno - 1], text, *lines[end + 1 :]]), "utf-8")

    def problem(self, path: str, text: str) -> None:
        """Replace the problem with the same id."""
        file = self.folder / path
        name = text.partition(":")[0]  # ### Problem (id)
        old = re.compile(rf"^{re.escape(name)}.*?(?=^### )", re.MULTILINE | re.DOTALL)
        source, count = old.subn(lambda _: f"{text}\n", file.read_text("utf-8"))
        assert count == 1
        file.write_text(source, "utf-8")

    def file(self, path: str, text: str) -> None:
        """Replace a whole file, which must exist."""
        assert (self.folder / path).is_file()
        (self.folder / path).write_text(text, "utf-8")

    def follow(self, block: Block) -> None:
        """Follow one block."""
        if block.language == "console":
            for command, output in steps(block.text):
                self.run(command, output)
        else:
            getattr(self, str(block.kind))(block.path, block.text)


def follow(page: Path, folder: Path, environment: Mapping[str, str]) -> Path:
    """Do what a page says, starting in a folder; return the folder where it ends."""
    reader = Reader(folder, environment)
    for block in blocks(page):
        reader.follow(block)
    return reader.folder
