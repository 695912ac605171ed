"""Nothing that was written is lost: what a run would replace or remove, and has not written itself,
or was written for somebody else, is moved to `earlier-1` (then `-2`, and so on) among the results.
"""

import json
import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

from tensormark.files import digest, free_path, sha256, write_whole

WRITTEN = ".written.json"  # file to the digests of what was last written there
FOLDER = "earlier"


class Earlier:
    """The folder of one run, which is made when there is something to move there."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.moved: list[str] = []

    @cached_property
    def folder(self) -> Path:
        """The first that is free."""
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
        """What was written by runs with this folder."""
        try:
            return dict(json.loads((self.out / WRITTEN).read_bytes()))
        except (OSError, ValueError, TypeError):
            return {}

    def note(self, name: str, content: str) -> None:
        """Note the digest of what is written; what was there may still be there after a crash."""
        written = self.written
        own = [*written.get(name, ())[-1:], content]
        write_whole(self.out / WRITTEN, json.dumps(written | {name: own}))

    def forget(self, name: str) -> None:
        """Note that what may stand there later is somebody else's."""
        written = {other: own for other, own in self.written.items() if other != name}
        write_whole(self.out / WRITTEN, json.dumps(written))

    def make_room(self, name: str, own: Sequence[str] | None = None) -> None:
        """Move a file unless it is as a run has written it.

        Args:
            own: the digests of what was written there, if they are known.
        """
        path = self.out / name
        own = self.written.get(name, ()) if own is None else own
        if not (path.is_file() and not path.is_symlink() and sha256(path) in own):
            self.move(name)

    def write(self, name: str, content: bytes) -> None:
        """Write a file."""
        self.make_room(name)
        self.note(name, digest(content))
        write_whole(self.out / name, content)

    def write_folder(self, folder: str, files: Iterable[tuple[str, bytes]]) -> None:
        """Write the files of a folder, and move those that a run has written there before.

        What is there already is left as it is. So a run that was interrupted here, which has noted
        nothing, moves nothing of its own if it is done again.
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
        """Move a file that an earlier run has written, and this one has nothing to write in."""
        if name in self.written:
            self.move(name)
            self.forget(name)

    def lines(self) -> list[str]:
        """Say what was moved."""
        what = ", ".join(self.moved[:5]) + (", ..." if len(self.moved) > 5 else "")
        why = "because it belongs to an earlier run"
        return [f"moved to {self.folder}, {why}: {what}"] if what else []
