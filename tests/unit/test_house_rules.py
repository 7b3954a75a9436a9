"""The rules of this code base that no linter knows."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 40
VAGUE_NAMES = frozenset({"utils", "util", "helpers", "helper", "common", "misc", "manager"})
WORKER_MAY_IMPORT = sys.stdlib_module_names | {"numpy", "IPython", "traitlets"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def sources() -> list[Path]:
    folders = ("autograder", "docs", "solutions", "source", "tests")
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def code_lines(function: Function) -> int:
    """Lines of a function from its ``def`` to its end, its docstring not counted."""
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    docstring = function.body[0]
    if ast.get_docstring(function) is not None and docstring.end_lineno is not None:
        lines -= docstring.end_lineno - docstring.lineno + 1
    return lines


def imported_modules(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def is_sibling(module: str) -> bool:
    """Whether the worker means a module beside itself: ``.wire``, never ``..processes``."""
    return module.startswith(".") and not module.startswith("..")


def test_every_file_is_short_enough_to_read_at_once() -> None:
    lines = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in sources()}
    assert {} == {name: count for name, count in lines.items() if count >= MAX_FILE_LINES}


def test_every_function_is_short_enough_to_see_at_once() -> None:
    too_long = {
        f"{name_of(path)}:{node.lineno} {node.name}": code_lines(node)
        for path in sources()
        for node in ast.walk(tree_of(path))
        if isinstance(node, Function) and code_lines(node) > MAX_FUNCTION_LINES
    }
    assert {} == too_long


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [] == [name_of(path) for path in sources() if VAGUE_NAMES & set(path.with_suffix("").parts)]


def test_packages_re_export_nothing() -> None:
    packages = [path for path in sources() if path.name == "__init__.py"]
    assert packages
    assert [] == [
        name_of(path)
        for path in packages
        if ast.get_docstring(tree_of(path)) is None or len(tree_of(path).body) != 1
    ]


@pytest.mark.parametrize("path", sorted((ROOT / "autograder/sandbox/worker").glob("*.py")), ids=name_of)
def test_the_worker_imports_only_what_the_sandbox_holds(path: Path) -> None:
    foreign = [
        module
        for module in imported_modules(tree_of(path))
        if module.partition(".")[0] not in WORKER_MAY_IMPORT and not is_sibling(module)
    ]
    assert [] == foreign
