"""The given imports of a lesson that a student lost, or moved below the functions that need them."""

import ast
from collections.abc import Collection, Iterator, Mapping

from autograder.notebooks.definitions import Definitions, bound_names
from autograder.notebooks.parsing import Parser
from autograder.notebooks.source import SourceCell, SourceNotebook

_IMPORTS = (ast.Import, ast.ImportFrom, ast.Try)


def lost_imports(
    source: SourceNotebook, above: Mapping[int, str], used: Collection[str]
) -> SourceCell | None:
    """The source's cell of imports, if ``used`` names of it are bound in no text ``above`` the functions.

    It counts as such where it stands before the first exercise, is not graded and holds nothing but imports.
    """
    texts = {text.strip() for text in above.values()}
    for cell in _cells_of_imports(source):
        if cell.visible_source.strip() in texts:
            continue
        module = Parser().parse(cell.visible_source)
        needed = set() if module is None else bound_names(module) & set(used)
        definitions = Definitions(needed)
        for text in above.values():
            needed -= definitions.of(text).names.keys()
        if needed:
            return cell
    return None


def _cells_of_imports(source: SourceNotebook) -> Iterator[SourceCell]:
    first = min((exercise.solution_index for exercise in source.exercises), default=0)
    for cell in source.cells[:first]:
        if cell.cell_type != "code" or cell.solution or cell.grade or cell.task:
            continue
        module = Parser().parse(cell.visible_source)
        if module is not None and module.body and all(isinstance(one, _IMPORTS) for one in module.body):
            yield cell
