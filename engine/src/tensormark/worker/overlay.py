"""The given files with a submission laid over them, imported from memory. Runs in the worker.

It answers requests: to load a submission (imports.py), and to run its calls (calls.py).
"""

import contextlib
import dataclasses
import functools
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType

import numpy as np

from tensormark.worker import calls, exceptions, forbidden, protocol, state, surroundings
from tensormark.worker.exceptions import letters_of, shapes
from tensormark.worker.imports import Imports, MemoryImporter, file_of
from tensormark.worker.objects import Originals
from tensormark.worker.optional_torch import Tensor
from tensormark.worker.protocol import Message, Tensors
from tensormark.worker.tape import TapeRecorder


def load_harness(path: str) -> ModuleType:
    """Import the assignment's harness from its file; see calls.py."""
    spec = importlib.util.spec_from_file_location("harness", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["harness"] = module
    spec.loader.exec_module(module)
    return module


def as_array(value: Tensor | np.ndarray) -> np.ndarray:
    """Return the values of a tensor; one without axes gets an axis, as either is right."""
    if isinstance(value, np.ndarray):
        return value
    array: np.ndarray = value.detach().to_dense().resolve_conj().resolve_neg().numpy()
    return np.atleast_1d(array)


class Overlay:
    """The given files with a submission laid over them, imported; runs its calls."""

    def __init__(self, harness: ModuleType) -> None:
        """Prepare to run calls.

        Args:
            harness: the assignment's harness; see `load_harness`.
        """
        surroundings.reset()
        self.harness = harness
        self.settings = state.settings()
        self.context = calls.Context(Imports((), self.settings), "", harness, Originals({}, ()))
        self.sources: dict[str, str] = {}
        self.files = exceptions.Files({}, ())
        self.given: dict[str, str] = {}  # texts of the editable files as they were given
        self.policy: dict[str, str] = {}  # what is forbidden until a request says otherwise
        self.undo = contextlib.ExitStack()  # allows it again
        self.tape: TapeRecorder | None = None  # of the present request

    def forbid(self, request: Message) -> None:
        """Forbid what the policy forbids, also between calls; given code may use some of it."""
        if request["policy"] != self.policy:
            self.policy = {}  # until all of it is done
            self.undo.close()
            self.undo = forbidden.forbid(request["policy"])
            self.policy = request["policy"]

    def load(self, request: Message) -> Message:
        """Import the given modules and the student's, in an empty folder."""
        surroundings.begin()
        for name in self.sources:  # from an earlier load
            sys.modules.pop(name, None)
        sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, MemoryImporter)]
        self.sources = request["sources"]
        surroundings.show_only(frozenset(request["packages"]))
        if "torch" not in sys.modules:  # a submission cannot change what it cannot import
            for name in state.OF_TORCH:
                state.SETTINGS.pop(name, None)
        fault = forbidden.prepare(request["rules"])
        if fault is not None:
            return {"status": "error", "refused": fault}
        self.forbid(request)
        files = {name: file_of(name, self.sources) for name in self.sources}
        texts = {files[name]: text for name, text in self.sources.items()}
        editable = {file: text for file, text in texts.items() if file in request["editable"]}
        self.files = exceptions.Files(editable, texts.keys() - editable)
        given = request["given"]
        self.given = {file_of(name, self.sources): text for name, text in given.items()}
        own = {name for name in self.sources if files[name] in editable}
        forbidden.OWN = own | {self.harness.__name__}
        sys.meta_path.insert(0, MemoryImporter(self.sources, files))
        self.context = calls.Context(
            Imports(request["import"], self.settings),
            request["checkpoint"],
            self.harness,
            Originals(request["given"], texts),
        )
        return {"status": "ok"}

    def import_for(self, call: calls.Call) -> None:
        """Import a call's module before an exercise's guards are up, so that trial code may run."""
        if "module" in call:
            with contextlib.suppress(exceptions.ImportFailure):  # the call raises it again
                self.context.module(call["module"])

    def call(
        self, request: Message, arrays: Tensors, progress: calls.Progress
    ) -> tuple[Message, Tensors]:
        """Run one call; return its message and tensors."""
        self.forbid(request)
        order = request.get("tape")
        self.tape = TapeRecorder(order, self.files.editable, self.given) if order else None
        context = dataclasses.replace(self.context, tape=self.tape)
        self.import_for(request["call"])
        with forbidden.forbid(request["forbidden"]):
            answer = calls.run(context, request["call"], arrays, progress)
        outputs = {name: as_array(value) for name, value in answer.tensors.items()}
        return {"status": "ok", **answer.message}, outputs

    def describe(self, error: BaseException, call: calls.Call) -> Message:
        """Describe what a load or a call raised."""
        target = str(call.get("target", ""))
        module = self.context.imports.modules.get(str(call.get("module")))
        hole = exceptions.code_of(module, target) if module is not None else None
        try:
            message = exceptions.describe(error, self.files, target, hole)
        except BaseException:  # an exception's attributes may be the student's, and raise
            return {"status": "error", "text": "raised an exception that cannot be described"}
        with contextlib.suppress(BaseException):  # it inspects the student's objects
            message["shapes"] = shapes(error, self.files.editable, letters_of(call))
        return message

    def answer(self, request: Message, arrays: Tensors, progress: calls.Progress) -> bytes:
        """Run a request (a load or a call); return the answer, or what it raised, as a frame."""
        self.tape = None
        try:
            if "sources" in request:
                return self.frame(request, self.load(request))
            return self.frame(request, *self.call(request, arrays, progress))
        except BaseException as error:  # including SystemExit and KeyboardInterrupt
            return self.frame(request, self.describe(error, request.get("call", {})))

    def frame(self, request: Message, message: Message, tensors: Tensors | None = None) -> bytes:
        """Pack the answer to a request."""
        header = {"number": request["number"], **message}
        if self.tape is not None:  # also of a call that has raised
            tensors = (tensors or {}) | self.tape.tensors()
        return protocol.encode(header, tensors)


def overlay_maker(harness: str) -> Callable[[], Overlay]:
    """Load the assignment's harness and hide the grader; return what makes an overlay with it.

    Args:
        harness: the path of the harness.
    """
    maker = functools.partial(Overlay, load_harness(harness))
    surroundings.hide_grader()
    return maker
