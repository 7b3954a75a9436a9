"""Packages that no assignment declares: in the box they are nowhere, without it only out of the way.

The controls are an environment that declares one of them, and the same attempts without the sandbox.
"""

from typing import Any

import hypothesis
import pytest

from autograder.model import Environment, Limits
from autograder.sandbox.choice import Way

pytestmark = pytest.mark.adversarial

Bench = Any  # tests/conftest.py
#: Where something is that is installed here, and that no notebook needs.
PLACE = hypothesis.__path__[0]

IMPORT = """
import importlib.metadata, importlib.util
found = importlib.util.find_spec("hypothesis") is not None
try:
    import hypothesis
    print("imported")
except ModuleNotFoundError as error:
    print(error, found)
"""
SEARCH = f"""
import os, pathlib, sys
place = pathlib.Path({PLACE!r})
words = []
if place.exists():
    words.append("seen")
folders = [path for path in sys.path if os.path.isdir(path)]
if any(name.startswith("hypothesis") for path in folders for name in os.listdir(path)):
    words.append("listed")
try:
    words.append("read" if (place / "__init__.py").read_text() else "")
except OSError:
    pass
sys.path.insert(0, "/elsewhere")
sys.path_importer_cache.clear()
sys.path_hooks[:] = [hook for hook in sys.path_hooks if "finder_for" not in repr(hook)]
try:
    import hypothesis
    words.append("imported")
except ModuleNotFoundError:
    pass
print(*words)
"""


def said(bench: Bench, source: str) -> str:
    """What a cell has printed."""
    return str(bench.outputs(source)[-1]["text"]).strip()


def test_an_import_fails_as_if_nothing_were_installed(bench: Bench) -> None:
    assert "No module named 'hypothesis' False" == said(bench, IMPORT)


def test_who_looks_for_it_finds_it_only_without_the_sandbox(bench: Bench) -> None:
    found = "" if bench.launcher.sandboxed else "seen listed read imported"
    assert found == said(bench, SEARCH)


def test_an_environment_that_declares_it_has_it(way: Way, make_bench: Any) -> None:
    bench = make_bench(way, Limits(), Environment(packages=("hypothesis",)))
    assert "imported" == said(bench, IMPORT)
    assert "seen listed read imported" == said(bench, SEARCH)
