"""Which functions a cell defines at top level, seen from its text alone: nothing is ever run.

Cells are IPython, not Python: magics and shell lines are set aside first. What still is not valid Python
is searched line by line, so that a cell with a syntax error is found too.
"""

import ast
import re
import threading
import warnings
from collections.abc import Collection, Iterator, Mapping

#: Longer cells are searched by line: parsing needs a hundred times the memory of the text.
MAX_PARSED_CHARACTERS = 200_000
#: Cell magics that run the rest of the cell as Python in the notebook's own namespace.
_PYTHON_MAGICS = frozenset({"capture", "prun", "time"})
_CELL_MAGIC = re.compile(r"\s*%%(\w+)[^\n]*\n?")
_MAGIC_LINE = re.compile(r"^([ \t]*)(?:[%!?].*|.*\?[ \t]*)$", re.MULTILINE)
_MAGIC_VALUE = re.compile(r"^([ \t]*\w[\w, ]*=)[ \t]*[%!].*$", re.MULTILINE)
_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_warning_filters = threading.Lock()


def defined_names(source: str, wanted: Collection[str], *, strict: bool = False) -> Mapping[str, bool]:
    r"""The wanted names that the cell binds at top level: True where by more than an unfinished stub.

    Functions, classes, assignments and imports count alike. With ``strict``, text that is not valid
    Python defines nothing.

    >>> defined_names("%%time\nasync def f(x):\n    return x", {"f", "g"})
    {'f': True}
    >>> defined_names("def f(x):\n    raise NotImplementedError", {"f"})
    {'f': False}
    """
    code = _python_part(source)
    here = [name for name in wanted if name in code]
    if not here:
        return {}
    module = _parse(code)
    if module is None:
        return {} if strict else {name: True for name in here if _line_that_binds(name).search(code)}
    found: dict[str, bool] = {}
    for name, finished in _bindings(module):
        if name in here:
            found[name] = finished or found.get(name, False)
    return found


def _python_part(source: str) -> str:
    """The text below cell magics, or nothing where that text is not run in the notebook's namespace."""
    while magic := _CELL_MAGIC.match(source):
        if magic[1] not in _PYTHON_MAGICS:
            return ""
        source = source[magic.end() :]
    return source


def _parse(code: str) -> ast.Module | None:
    """The syntax tree, or None where there is none to be had."""
    if len(code) > MAX_PARSED_CHARACTERS:
        return None
    without_magics = _MAGIC_LINE.sub(r"\1pass", _MAGIC_VALUE.sub(r"\1 None", code))
    for text in (code, without_magics):
        # The filters are the process's own; the lock keeps two threads from restoring each other's.
        with _warning_filters, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return ast.parse(text)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
    return None


def _line_that_binds(name: str) -> re.Pattern[str]:
    word = re.escape(name)
    return re.compile(
        rf"^(?:(?:async[ \t]+)?def[ \t]+{word}\b|class[ \t]+{word}\b|{word}[ \t]*(?::[^=\n]+)?=(?!=)"
        rf"|(?:from[ \t]+\S+[ \t]+)?import\b.*\b{word}\b)",
        re.MULTILINE,
    )


def _bindings(module: ast.Module) -> Iterator[tuple[str, bool]]:
    """Every (name, finished) bound at top level, blocks such as ``if`` and ``try`` included."""
    waiting: list[ast.AST] = [module]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, not _is_stub(node)
        elif isinstance(node, ast.ClassDef):
            yield node.name, True
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name.split(".")[0], True
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, True
        elif not isinstance(node, _SCOPES):
            waiting.extend(ast.iter_child_nodes(node))


def _is_stub(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether the function still waits for its code: it does nothing, or ends in NotImplementedError."""
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    if all(isinstance(one, ast.Pass) or _is_ellipsis(one) for one in body):
        return True
    last = body[-1]
    if not isinstance(last, ast.Raise) or last.exc is None:
        return False
    raised = last.exc.func if isinstance(last.exc, ast.Call) else last.exc
    returns = any(isinstance(one, ast.Return) for one in ast.walk(node))
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError" and not returns


def _is_ellipsis(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is Ellipsis
    )
