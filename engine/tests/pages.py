"""What the engine's pages show: blocks to be run, files and functions to be written."""

import ast
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ENGINE = Path(__file__).resolve().parents[1]
PAGE, README = ENGINE / "docs" / "first_assignment.md", ENGINE / "README.md"
FENCE = re.compile(r"^(?:<!-- (\w+): (\S+) -->\n)?```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """One block.

    Attributes:
        kind, path: of the comment before it: what to do with it, and with which file.
    """

    kind: str | None
    path: str | None
    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    return [Block(*found) for found in FENCE.findall(page.read_text("utf-8"))]


def steps(text: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a console block, each with the output that stands below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def pattern(output: str) -> str:
    """Return what an output is to match; `...` stands for a part of a line, or for any lines."""
    lines = []
    for line in output.splitlines():
        words = ".*".join(re.escape(part) for part in line.split("..."))
        lines.append(r"(?:.*\n)*?" if line == "..." else words + r" *\n")
    return "".join(lines)


class Reader:
    """Does what the page says.

    Attributes:
        folder: where it is now.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder, self.environment = folder, environment

    def run(self, command: str, output: str) -> None:
        """Run a command, and compare what it prints."""
        if command.startswith("cd "):
            self.folder /= command.removeprefix("cd ")
            return
        done = subprocess.run(
            command,
            shell=True,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        said = f"$ {command}\n{done.stdout}{done.stderr}"
        assert done.returncode == 0, said
        assert re.fullmatch(pattern(output), done.stdout), f"{said}\nthe page has:\n{output}"

    def function(self, path: str, text: str) -> None:
        """Put a function in the place of the one of the same name."""
        file = self.folder / path
        source = file.read_text("utf-8")
        (new,) = ast.parse(text).body
        assert isinstance(new, ast.FunctionDef)
        (old,) = (
            node
            for node in ast.parse(source).body
            if isinstance(node, ast.FunctionDef) and node.name == new.name
        )
        lines = source.splitlines(keepends=True)
        end = next(n for n in range(len(lines)) if f"### END SOLUTION {new.name}" in lines[n])
        file.write_text("".join([*lines[: old.lineno - 1], text, *lines[end + 1 :]]), "utf-8")

    def problem(self, path: str, text: str) -> None:
        """Put a problem in the place of the one with the same id."""
        file = self.folder / path
        name = text.partition(":")[0]  # ### Problem (id)
        old = re.compile(rf"^{re.escape(name)}.*?(?=^### )", re.MULTILINE | re.DOTALL)
        source, count = old.subn(lambda _: f"{text}\n", file.read_text("utf-8"))
        assert count == 1
        file.write_text(source, "utf-8")

    def file(self, path: str, text: str) -> None:
        """Write a whole file, in the place of one that is there."""
        assert (self.folder / path).is_file()
        (self.folder / path).write_text(text, "utf-8")

    def follow(self, block: Block) -> None:
        """Do what a block is for."""
        if block.language == "console":
            for command, output in steps(block.text):
                self.run(command, output)
        else:
            getattr(self, str(block.kind))(block.path, block.text)


def follow(page: Path, folder: Path, environment: Mapping[str, str]) -> Path:
    """Do what a page says, in a folder; return the one where it ends."""
    reader = Reader(folder, environment)
    for block in blocks(page):
        reader.follow(block)
    return reader.folder
