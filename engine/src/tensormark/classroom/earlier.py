"""Keep earlier files: what a run would replace or remove is moved to `earlier-1` among the results
(then `-2`, and so on) if no run wrote it, or if a run wrote it for somebody else.
"""

import json
import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

from tensormark.files import digest, encoded, free_path, sha256, write_whole

WRITTEN = ".written.json"  # file name to the digests of what runs last wrote there
FOLDER = "earlier"


class Earlier:
    """The folder to which one run moves files, created when first needed."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.moved: list[str] = []

    @cached_property
    def folder(self) -> Path:
        """The first free folder name."""
        return free_path(self.out / FOLDER)

    def move(self, *names: str) -> None:
        """Move files or folders there, as far as they exist."""
        for name in names:
            if os.path.lexists(self.out / name):
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                os.replace(self.out / name, self.folder / name)
                self.moved.append(name)

    @property
    def written(self) -> dict[str, list[str]]:
        """The digests of what runs have written, by file name."""
        try:
            return dict(json.loads((self.out / WRITTEN).read_bytes()))
        except (OSError, ValueError, TypeError):
            return {}

    def note(self, name: str, content: str) -> None:
        """Record the digest of what will be written, and of what is there until then."""
        path = self.out / name
        own = [sha256(path), content] if path.is_file() else [content]
        write_whole(self.out / WRITTEN, json.dumps(self.written | {name: own}))

    def make_room(self, name: str, own: Sequence[str] | None = None) -> None:
        """Move a file unless it is as a run wrote it.

        Args:
            own: the digests of what runs wrote there; by default, those recorded.
        """
        path = self.out / name
        own = self.written.get(name, ()) if own is None else own
        if not (path.is_file() and not path.is_symlink() and sha256(path) in own):
            self.move(name)

    def write(self, name: str, content: bytes | str) -> None:
        """Write a file."""
        raw = encoded(content) if isinstance(content, str) else content
        self.make_room(name)
        self.note(name, digest(raw))
        write_whole(self.out / name, raw)

    def write_folder(self, folder: str, files: Iterable[tuple[str, bytes]]) -> None:
        """Write the files of a folder, and move other files that earlier runs wrote there.

        A file that already has its content is left alone, so that repeating a run which was
        interrupted here, and recorded nothing, does not move that run's own files.
        """
        others = self.written
        before = {name: others.pop(name) for name in [*others] if name.startswith(f"{folder}/")}
        own = {}
        for name, content in ((f"{folder}/{name}", content) for name, content in files):
            own[name] = [digest(content)]
            self.make_room(name, [*before.get(name, ()), *own[name]])
            if not (self.out / name).exists() or sha256(self.out / name) not in own[name]:
                write_whole(self.out / name, content)
        self.move(*(name for name in before if name not in own))
        if before != own:
            write_whole(self.out / WRITTEN, json.dumps(others | own))

    def withdraw(self, name: str) -> None:
        """Move a file that an earlier run wrote, and for which this run has no content."""
        written = self.written
        if name in written:
            self.move(name)
            del written[name]  # anything there from now on is somebody else's
            write_whole(self.out / WRITTEN, json.dumps(written))

    def lines(self) -> list[str]:
        """Return a line that says what was moved, if anything was."""
        what = ", ".join(self.moved[:5]) + (", ..." if len(self.moved) > 5 else "")
        why = "because it belongs to an earlier run"
        return [f"moved to {self.folder}, {why}: {what}"] if what else []
