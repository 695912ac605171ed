"""Import a program's modules, and undo the side effects of importing. Runs in the worker.

A module that cannot be imported fails the calls that need it, and those only.
"""

import contextlib
import importlib
import sys
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

from tensormark.worker import state


class ImportFailure(Exception):
    """A module cannot be imported; `__cause__` says why."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name}.py cannot be imported")
        self.name = name


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
        state.put_back(settings)
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
        state.seed(0)
        generators = state.Generators()
        try:
            self.modules[name] = importlib.import_module(name)
        except BaseException as error:  # including SystemExit and KeyboardInterrupt
            failure = self.failure(name, error)
            raise failure from failure.__cause__
        finally:
            self.settings = {**self.settings, **state.settings_that_stay()}
            changed = state.put_back(self.settings)
            changed += generators.seeded()
            self.changed[name] = changed
            generators.put_back()
        return self.modules[name]

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
