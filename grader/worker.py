"""The worker: the only process that runs a student's code. It returns tensors, never verdicts.

Started as a script, `python -I worker.py`. It talks over its first stdin and stdout, which it
moves out of reach of `print` and `input` before any student's code is loaded. The submission and
the given files arrive as text and are imported from memory: nothing is written, and no other file
of the submission can be imported.

Covered: a submission cannot break the protocol by printing or reading. Not covered here: what a
hostile one does to this process; isolation is the sandbox's business.
"""

import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

if __name__ == "__main__":
    # `-I` keeps the environment, the current folder and this script's folder out of sys.path
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from grader import protocol

Progress = Callable[[int, int], None]
Sent = tuple[protocol.Message, dict[str, Any]]

ADDRESS_SPACE = 16 << 30  # bytes; torch alone maps about 1 GiB, a real BERT with gradients 4


class MemoryImporter(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports the submission's modules from text, before anything of the same name on disk."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.sources = sources

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return a spec for the submission's own modules only."""
        if fullname not in self.sources:
            return None
        return importlib.util.spec_from_loader(fullname, self, origin=f"{fullname}.py")

    def get_source(self, fullname: str) -> str:
        """Return the module's text, which also gives tracebacks their lines."""
        return self.sources[fullname]

    def get_code(self, fullname: str) -> Any:
        """Compile under the name the student knows: bert.py."""
        return compile(self.sources[fullname], f"{fullname}.py", "exec", dont_inherit=True)


def take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Move the protocol's streams to new descriptors; print goes to stderr, input finds the end."""
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return os.fdopen(requests, "rb"), os.fdopen(replies, "wb")


def limit_resources() -> None:
    """Bound memory, written files and core dumps, where the system knows such limits."""
    try:
        import resource  # there is none on Windows
    except ImportError:
        return
    for kind, limit in [
        (resource.RLIMIT_AS, ADDRESS_SPACE),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 64 << 20),
    ]:
        hard = resource.getrlimit(kind)[1]
        bound = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (bound, bound))


class Overlay:
    """The given files with a submission laid over them, imported; carries out calls of it."""

    def __init__(self) -> None:
        self.modules: dict[str, ModuleType] = {}
        self.sources: dict[str, str] = {}
        self.checkpoint = ""

    def load(self, request: Mapping[str, Any]) -> protocol.Message:
        """Import the given modules and the student's."""
        for name in self.sources:  # of a load before this one
            sys.modules.pop(name, None)
        sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, MemoryImporter)]
        self.sources, self.checkpoint = request["sources"], request["checkpoint"]
        sys.meta_path.insert(0, MemoryImporter(self.sources))
        self.modules = {name: importlib.import_module(name) for name in request["import"]}
        return {"status": "ok"}

    def call(self, call: Mapping[str, Any], arrays: Mapping[str, Any], progress: Progress) -> Sent:
        """Carry out one call; return its answer and tensors."""
        import torch  # imported by now; named here because the streams come first

        from grader import calls

        tensors = {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
        answer = calls.run(self.modules, call, tensors, self.checkpoint, progress)
        sent = {name: tensor.detach().numpy() for name, tensor in answer.tensors.items()}
        return {"status": "ok", **answer.message}, sent

    def answer(
        self, request: Mapping[str, Any], arrays: Mapping[str, Any], progress: Progress
    ) -> bytes:
        """Carry out a request, a load or a call; what it raises is an answer too. As a frame."""
        from grader import calls  # imports torch

        number = {"number": request["number"]}
        try:
            if "sources" in request:
                return protocol.encode({**number, **self.load(request)})
            message, tensors = self.call(request["call"], arrays, progress)
            return protocol.encode({**number, **message}, tensors)
        except BaseException as error:  # SystemExit and KeyboardInterrupt of a student's code too
            files = {f"{name}.py": name for name in self.sources}
            return protocol.encode({**number, **calls.describe(error, files)})


class Worker:
    """Answers requests on a stream."""

    def __init__(self, replies: BinaryIO) -> None:
        self.replies = replies
        self.overlay = Overlay()

    def send(self, frame: bytes) -> None:
        """Write one frame at once."""
        self.replies.write(frame)
        self.replies.flush()

    def handle(self, request: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        """Carry out one request."""

        def progress(done: int, total: int) -> None:
            self.send(protocol.encode({"number": request["number"], "progress": [done, total]}))

        answer = self.overlay.answer(request, arrays, progress)
        with contextlib.suppress(Exception):  # a submission may have put anything in its place
            sys.stdout.flush()
        self.send(answer)


def main() -> None:
    """Serve requests until the stream of them ends."""
    requests, replies = take_streams()
    limit_resources()
    import torch  # after the streams are safe

    torch.set_num_threads(int(os.environ.get("MINBERT_THREADS", "1")))
    worker = Worker(replies)
    worker.send(protocol.encode({"number": 0, "status": "ok", "torch": torch.__version__}))
    while (frame := protocol.read_frame(requests)) is not None:
        worker.handle(*frame)


if __name__ == "__main__":
    main()
