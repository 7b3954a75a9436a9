"""Lets this interpreter find only those packages that the assignment declares.

In the box no others can be seen, whatever is done; without it this is all that hides them, and code that
looks for them by their paths will find them.
"""

import json
import sys
from collections.abc import Sequence
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
    SourcelessFileLoader,
)
from types import ModuleType

_LOADERS = (
    (ExtensionFileLoader, EXTENSION_SUFFIXES),
    (SourceFileLoader, SOURCE_SUFFIXES),
    (SourcelessFileLoader, BYTECODE_SUFFIXES),
)


class DeclaredFinder(FileFinder):
    """Finds modules in a folder of packages as usual, if they are among the declared ones."""

    def __init__(self, folder: str, modules: frozenset[str]):
        super().__init__(folder, *_LOADERS)
        self._modules = modules

    def find_spec(self, fullname: str, target: ModuleType | None = None) -> ModuleSpec | None:
        """The module there, if there is one that may be found."""
        return super().find_spec(fullname, target) if fullname in self._modules else None


def keep_to(entries: str) -> None:
    """Put folders of packages on the path: a JSON object of each with the files and folders to be found."""
    found: dict[str, Sequence[str]] = json.loads(entries)
    modules = {folder: frozenset(name.partition(".")[0] for name in names) for folder, names in found.items()}

    def finder_for(path: str) -> DeclaredFinder:
        if path not in modules:
            raise ImportError(f"{path} holds no packages", path=path)
        return DeclaredFinder(path, modules[path])

    sys.path += modules
    sys.path_hooks.insert(0, finder_for)
