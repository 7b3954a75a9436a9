"""Which functions and classes the cells of a notebook define at top level, seen from their texts alone.

What is not valid Python, or too long to be parsed, is searched line by line, so that a cell with a syntax
error is found too.
"""

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from autograder.notebooks.parsing import Parser, python_part

_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Defined:
    """What one cell binds of the wanted names: ``names`` are True where by more than an unfinished stub.

    ``uses`` tells, by name, what the statements that bind it read. ``stubs_alone`` says that the cell holds
    unfinished stubs of wanted functions and nothing else. ``parsed`` is False where the text was searched
    line by line.
    """

    names: Mapping[str, bool] = field(default_factory=dict)
    uses: Mapping[str, frozenset[str]] = field(default_factory=dict)
    stubs_alone: bool = False
    parsed: bool = True


_NOTHING = Defined()


class Definitions:
    """Looks for definitions of the ``wanted`` names in the cells of one notebook.

    ``methods`` names those that are methods, with their class: its body may define them, too.
    """

    def __init__(
        self,
        wanted: Collection[str],
        parser: Parser | None = None,
        *,
        methods: Mapping[str, str] | None = None,
    ):
        self._wanted = tuple(wanted)
        self._methods = methods or {}
        self._parser = parser or Parser()
        self._known: dict[str, Defined] = {}

    def of(self, source: str) -> Defined:
        r"""What a cell binds at top level; functions, classes, assignments and imports count alike.

        >>> Definitions(["f", "g"]).of("%%time\nasync def f(x):\n    return g(x)").names
        {'f': True}
        >>> Definitions(["f"]).of("def f(x):\n    raise NotImplementedError").names
        {'f': False}
        """
        code = python_part(source)
        here = [name for name in self._wanted if name in code]
        if not here:
            return _NOTHING
        if code not in self._known:
            module = self._parser.parse(code)
            self._known[code] = (
                _search(code, here) if module is None else _inspect(module, here, self._methods)
            )
        return self._known[code]


def methods_of_classes(module: ast.Module, classes: Collection[str]) -> dict[str, str]:
    r"""The functions that a decorator makes methods of one of these classes, each with its class.

    >>> methods_of_classes(ast.parse("@method_of(Box)\ndef open(self): ..."), {"Box"})
    {'open': 'Box'}
    """
    found: dict[str, str] = {}
    for statement in module.body:
        if isinstance(statement, ast.FunctionDef):
            calls = [one for one in statement.decorator_list if isinstance(one, ast.Call)]
            given = [arg.id for call in calls for arg in call.args if isinstance(arg, ast.Name)]
            found.update((statement.name, name) for name in given if name in classes)
    return found


def bound_names(module: ast.Module) -> frozenset[str]:
    """All names that a program binds at top level."""
    return frozenset(name for statement in module.body for name, _ in _bindings(statement))


def _search(code: str, names: Collection[str]) -> Defined:
    """What a text that could not be parsed seems to bind."""
    found = {name: True for name in names if _line_that_binds(name).search(code)}
    return Defined(found, parsed=False)


def _inspect(module: ast.Module, names: Collection[str], methods: Mapping[str, str]) -> Defined:
    finished: dict[str, bool] = {}
    uses: dict[str, frozenset[str]] = {}
    for statement in module.body:
        for name, done in (*_bindings(statement), *_methods_inside(statement, methods)):
            if name in names:
                finished[name] = done or finished.get(name, False)
                uses[name] = uses.get(name, frozenset()) | _names_read(statement)
    stubs_alone = all(_is_stub(one) for one in module.body) and finished.keys() >= bound_names(module)
    return Defined(finished, uses, stubs_alone)


def _line_that_binds(name: str) -> re.Pattern[str]:
    word = re.escape(name)
    return re.compile(
        rf"^(?:(?:async[ \t]+)?def[ \t]+{word}\b|class[ \t]+{word}\b|{word}[ \t]*(?::[^=\n]+)?=(?!=)"
        rf"|(?:from[ \t]+\S+[ \t]+)?import\b.*\b{word}\b)",
        re.MULTILINE,
    )


def _bindings(statement: ast.stmt) -> Iterator[tuple[str, bool]]:
    """Every (name, finished) that a statement binds at top level, also within ``if``, ``try`` and such."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef | ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, not _is_stub(node)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name.split(".")[0], True
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, True
        elif not isinstance(node, _SCOPES):
            waiting.extend(ast.iter_child_nodes(node))


def _methods_inside(statement: ast.stmt, methods: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
    """Every (name, finished) of the methods that the body of their class defines."""
    if isinstance(statement, ast.ClassDef):
        for node in statement.body:
            if isinstance(node, ast.FunctionDef) and methods.get(node.name) == statement.name:
                yield node.name, not _is_stub(node)


def _names_read(statement: ast.stmt) -> frozenset[str]:
    nodes = ast.walk(statement)
    return frozenset(one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load))


def _is_stub(node: ast.stmt) -> bool:
    """Whether it is a function that waits for its code: it does nothing, or ends in NotImplementedError.

    Or a class with a method that ends so.
    """
    if isinstance(node, ast.ClassDef):
        return any(isinstance(one, ast.FunctionDef) and _waits(one) for one in node.body)
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    if all(isinstance(one, ast.Pass) or _is_ellipsis(one) for one in body):
        return True
    return _waits(node)


def _waits(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it ends in NotImplementedError and returns nothing before."""
    last = node.body[-1]
    if not isinstance(last, ast.Raise) or last.exc is None:
        return False
    raised = last.exc.func if isinstance(last.exc, ast.Call) else last.exc
    returns = any(isinstance(one, ast.Return) for one in ast.walk(node))
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError" and not returns


def _is_ellipsis(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is Ellipsis
    )
