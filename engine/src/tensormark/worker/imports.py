"""Import a program's modules from memory, and undo the side effects. Runs in the worker.

A module that cannot be imported fails the calls that need it, and those only.

Covered: only the files that were sent can be imported from the submission.
Not covered: what the code does once it runs; that is the sandbox's job.
"""

import __future__

import contextlib
import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import CodeType, ModuleType
from typing import Any

from tensormark.worker import state
from tensormark.worker.absent_gpu import ABOUT_GPUS, cpu_for_gpu
from tensormark.worker.exceptions import ImportFailure, message_of
from tensormark.worker.protocol import GPU

UNUSUAL = 1 << 20  # that no file seeds with, so that it shows if one does


@functools.lru_cache(maxsize=64)
def compiled(file: str, source: str) -> CodeType:
    """Compile a module's source; most files stay the same from one load to the next.

    Annotations are not evaluated, as in Python 3.14, so code may be right there and name in them
    what it never imports, or a class within itself.
    """
    flag = __future__.annotations.compiler_flag
    code: CodeType = compile(source, file, "exec", flag, dont_inherit=True)
    return code


def _is_package(name: str, names: Collection[str]) -> bool:
    return any(other.startswith(f"{name}.") for other in names)


def file_of(name: str, names: Collection[str]) -> str:
    """Return the name of a module's file: "package/main.py" for "package.main"."""
    path = name.replace(".", "/")
    return f"{path}/__init__.py" if _is_package(name, names) else f"{path}.py"


class MemoryImporter(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports the submission's modules from memory, with priority over files on disk.

    Attributes:
        sources: module name to text.
        files: module name to the name of its file.
    """

    def __init__(self, sources: Mapping[str, str], files: Mapping[str, str]) -> None:
        self.sources = sources
        self.files = files

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return a spec for the submission's own modules only."""
        if fullname not in self.sources:
            return None
        spec = importlib.util.spec_from_loader(
            fullname,
            self,
            origin=self.files[fullname],
            is_package=_is_package(fullname, self.sources),
        )
        assert spec is not None
        spec.has_location = True  # so that its modules have a __file__, as usual
        return spec

    def get_source(self, fullname: str) -> str:
        """Return the module's source, which also gives tracebacks their lines."""
        return self.sources[fullname]

    def get_code(self, fullname: str) -> CodeType:
        """Compile a module under the student's file name, such as main.py."""
        return compiled(self.files[fullname], self.sources[fullname])


class Imports:
    """The imported modules by name.

    Attributes:
        settings: the settings that every call starts with. Of the changes made by importing, only
            the warning filters stay: they usually concern the module's own lines.
        changed: by module name, what importing it changed; these changes were undone.
        failed: by module name, why it cannot be imported. Nothing imports it a second time.
    """

    def __init__(self, names: Iterable[str], settings: Mapping[str, Any]) -> None:
        """Import modules.

        Args:
            names: those that can be imported are, in this order.
            settings: the settings in effect during the import.
        """
        self.settings = settings
        self.modules: dict[str, ModuleType] = {}
        self.changed: dict[str, list[str]] = {}
        self.failed: dict[str, ImportFailure] = {}
        for name in names:
            with contextlib.suppress(ImportFailure):
                self.module(name)

    def module(self, name: str) -> ModuleType:
        """Return a module; import it if it is not imported yet.

        Raises:
            ImportFailure: the module, or one that it imports, cannot be imported.
        """
        if name in self.modules:
            return self.modules[name]
        if name in self.failed:
            raise self.failed[name]
        state.put_back(self.settings)
        state.seed(UNUSUAL)
        generators = state.Generators()
        asked: list[str] = []
        try:
            asked = self._import(name)
        except BaseException as error:  # including SystemExit and KeyboardInterrupt
            failure = self.failure(name, error)
            raise failure from failure.__cause__
        finally:
            self.settings = {**self.settings, **state.settings_that_stay()}
            changed = state.put_back(self.settings) + asked
            changed += generators.seeded()
            self.changed[name] = changed
            generators.put_back()
        return self.modules[name]

    def _import(self, name: str) -> list[str]:
        """Import a module; if it asks for a GPU, do it again without, and return that."""
        try:
            self.modules[name] = importlib.import_module(name)
        except Exception as error:
            if not ABOUT_GPUS.search(message_of(error)):
                raise
            state.seed(UNUSUAL)
            with cpu_for_gpu():
                self.modules[name] = importlib.import_module(name)
            return [GPU]
        return []

    def failure(self, name: str, error: BaseException) -> ImportFailure:
        """Return why a module cannot be imported: one that it imports may be the cause."""
        cause = error.name if isinstance(error, ModuleNotFoundError) else None
        failure = self.failed.get(cause) if isinstance(cause, str) else None
        if failure is None:
            failure = ImportFailure(name)
            failure.__cause__ = error
            sys.modules[name] = None  # type: ignore[assignment]  # Python's mark for a failure
        self.failed[name] = failure
        return failure
