"""The given imports of a lesson that a student lost, moved too far down, or joined with others."""

import ast
import sys
from collections.abc import Collection, Mapping
from functools import lru_cache

from autograder.notebooks.definitions import Definitions, bound_names
from autograder.notebooks.parsing import Parser
from autograder.notebooks.source import KEPT_LESSONS, SourceCell, SourceNotebook

_IMPORTS = (ast.Import, ast.ImportFrom, ast.Try)
#: Modules, besides the lesson's own, whose import does not fail.
_SAFE = sys.stdlib_module_names | {"numpy"}


def lost_imports(
    source: SourceNotebook, above: Mapping[int, str], used: Collection[str]
) -> SourceCell | None:
    """The source's cell of imports, if ``used`` names of it are bound in no text ``above`` the functions.

    It counts as such where it stands before the first exercise, is not graded and holds nothing but imports,
    and perhaps constants.
    """
    texts = {text.strip() for text in above.values()}
    for cell, module in _cells_of_imports(source):
        if cell.visible_source.strip() in texts:
            continue
        needed = bound_names(module) & set(used)
        definitions = Definitions(needed)
        for text in above.values():
            needed -= definitions.of(text).names.keys()
        if needed:
            return cell
    return None


def endangered_imports(source: SourceNotebook, above: Mapping[int, str]) -> SourceCell | None:
    """The source's cell of imports, if a text that binds its names imports something else, too.

    Where notebooks are graded that may not be there, and then the text ends before the names are bound.
    """
    texts = {text.strip() for text in above.values()}
    for cell, given in _cells_of_imports(source):
        if cell.visible_source.strip() in texts:
            continue
        safe, parser = _SAFE | _imported(given), Parser()
        for text in above.values():
            module = parser.parse(text) if "import" in text else None
            if module is not None and _imported(module) - safe and bound_names(module) & bound_names(given):
                return cell
    return None


def _imported(module: ast.Module) -> set[str]:
    """The packages, or modules outside of any, that a program imports."""
    names: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    return names


@lru_cache(KEPT_LESSONS)
def _cells_of_imports(source: SourceNotebook) -> tuple[tuple[SourceCell, ast.Module], ...]:
    """The lesson's cells of imports, each with its program: the same for all submissions."""
    found: list[tuple[SourceCell, ast.Module]] = []
    first = min((exercise.solution_index for exercise in source.exercises), default=0)
    for cell in source.cells[:first]:
        if cell.cell_type != "code" or cell.solution or cell.grade or cell.task:
            continue
        module = Parser().parse(cell.visible_source)
        if module is None or not any(isinstance(one, _IMPORTS) for one in module.body):
            continue
        if all(isinstance(one, _IMPORTS) or _is_constant(one) for one in module.body):
            found.append((cell, module))
    return tuple(found)


def _is_constant(statement: ast.stmt) -> bool:
    """Whether a number or a text gets a name."""
    value = statement.value if isinstance(statement, ast.Assign) else None
    return isinstance(value, ast.Constant) or (
        isinstance(value, ast.UnaryOp) and isinstance(value.operand, ast.Constant)
    )
