"""Import a program's modules, and undo the side effects of importing. Runs in the worker."""

import importlib
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
    """

    def __init__(self, names: Iterable[str], settings: Mapping[str, Any]) -> None:
        """Import modules.

        Args:
            settings: the settings in effect during the import.

        Raises:
            ImportFailure: a module cannot be imported.
        """
        self.settings = settings
        state.put_back(settings)
        self.modules: dict[str, ModuleType] = {}
        self.changed: dict[str, list[str]] = {}
        for name in names:
            self.module(name)

    def module(self, name: str) -> ModuleType:
        """Return a module; import it if it is not imported yet.

        Raises:
            ImportFailure: the module cannot be imported.
        """
        if name in self.modules:
            return self.modules[name]
        state.seed(0)
        generators = state.Generators()
        try:
            self.modules[name] = importlib.import_module(name)
        except BaseException as error:  # including SystemExit and KeyboardInterrupt
            raise ImportFailure(name) from error
        finally:
            self.settings = {**self.settings, **state.settings_that_stay()}
            changed = state.put_back(self.settings)
            changed += [seed for seed, unchanged in generators.unseeded().items() if not unchanged]
            self.changed[name] = changed
            generators.put_back()
        return self.modules[name]
