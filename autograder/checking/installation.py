"""The source text by which a function or class of the reference is made anew in a student's process.

``Student.install`` takes it; when that may be, ``checking.follow_through`` says.
"""

import ast
import builtins
import inspect
import symtable
import sys
import textwrap
from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeAlias

from autograder.errors import CourseError

#: What is there under its name wherever something is installed, besides builtins.
INSTALLED_WITH = "np"

Definition: TypeAlias = ast.FunctionDef | ast.ClassDef


def source_of(definition: Any, *, is_method: bool = False, without: Collection[str] = ()) -> str:
    """The source text of a function or class, with all of its module that it needs.

    That are import statements, numbers and texts under a name, and other functions and classes. All comes
    without annotations, docstrings and comments: it is code to be run, not to be read. ``without`` names
    functions of a class that stay behind. If ``is_method`` it becomes one by a decorator, which is left out.

    Raises:
        CourseError: it has no source, is decorated, or uses names that cannot be brought along.
    """
    name = getattr(definition, "__name__", "?")
    kind = "class" if isinstance(definition, type) else "function"
    fault = f"The reference's {kind} {name} cannot follow through:"
    node = _parsed(definition, fault)
    if is_method:
        node.decorator_list = []
    if isinstance(node, ast.ClassDef):
        node.body = [one for one in node.body if getattr(one, "name", None) not in without] or [ast.Pass()]
    statements = _with_all_it_needs(_bare(node, fault), _Module.of(definition), fault)
    return "\n".join(ast.unparse(ast.fix_missing_locations(one)) for one in statements)


def defined_in(source: str) -> frozenset[str]:
    """The functions and classes that a text of ``source_of`` defines."""
    body = ast.parse(source).body
    return frozenset(one.name for one in body if isinstance(one, ast.FunctionDef | ast.ClassDef))


def _parsed(definition: Any, fault: str) -> Definition:
    try:
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(definition))).body
    except (OSError, TypeError, SyntaxError, ValueError) as error:
        raise CourseError(f"{fault} it has no source.") from error
    if not isinstance(node, ast.FunctionDef | ast.ClassDef):
        raise CourseError(f"{fault} it must be a plain function or a class.")
    return node


def _bare(node: Definition, fault: str) -> Definition:
    if node.decorator_list:
        raise CourseError(f"{fault} {node.name} must be a plain function or class, not decorated.")
    bare: Definition = _Bare().visit(node)
    return bare


def _with_all_it_needs(node: Definition, module: "_Module", fault: str) -> list[ast.stmt]:
    """The definition behind all that it uses of its module, in the order of that."""
    found: dict[str, tuple[int, ast.stmt]] = {}
    waiting: list[ast.stmt] = [node]
    strange: set[str] = set()
    while waiting:
        for name in _outer_names(waiting.pop()) - found.keys() - {node.name, INSTALLED_WITH, *dir(builtins)}:
            if name not in module.statements:
                strange.add(name)
                continue
            line, statement = module.statements[name]
            if isinstance(statement, ast.FunctionDef | ast.ClassDef):
                statement = _bare(statement, fault)
            found[name] = line, statement
            waiting.append(statement)
    if strange:
        raise CourseError(
            f"{fault} it uses {', '.join(sorted(strange))}. It must get along with builtins, its own "
            f"arguments, {INSTALLED_WITH}, and what its module imports or defines by itself."
        )
    return [statement for _, statement in sorted(found.values(), key=lambda pair: pair[0])] + [node]


class _Module:
    """The statements of a module that can be brought along, by the names that they bind, with their lines."""

    def __init__(self, statements: Mapping[str, tuple[int, ast.stmt]]):
        self.statements = statements

    @classmethod
    def of(cls, definition: Any) -> "_Module":
        """The module in which something is defined; nothing where that has no source."""
        module = sys.modules.get(getattr(definition, "__module__", ""))
        try:
            body = [] if module is None else ast.parse(inspect.getsource(module)).body
        except (OSError, TypeError, SyntaxError):
            body = []
        return cls({name: (one.lineno, part) for one in body for name, part in _bound(one)})


def _bound(statement: ast.stmt) -> Iterator[tuple[str, ast.stmt]]:
    """Each name that a statement binds, with the part of the statement that does it."""
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name, statement
        case ast.Import(names=names):
            for alias in names:
                yield alias.asname or alias.name.split(".")[0], ast.Import([alias])
        case ast.ImportFrom(module=module, names=names, level=0):
            for alias in names:
                yield alias.asname or alias.name, ast.ImportFrom(module, [alias], 0)
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_literal(value):
            yield name, ast.Assign([ast.Name(name, ast.Store())], value)
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if _is_literal(value):
            yield name, ast.Assign([ast.Name(name, ast.Store())], value)


def _is_literal(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except ValueError:
        return False
    return True


def _outer_names(statement: ast.stmt) -> set[str]:
    """The names that a statement takes from outside, those of the functions within included."""
    text = ast.unparse(ast.fix_missing_locations(statement))
    return set(_global_names(symtable.symtable(text, "<installed>", "exec")))


def _global_names(table: symtable.SymbolTable) -> Iterator[str]:
    for symbol in table.get_symbols():
        if symbol.is_referenced() and symbol.is_global():
            yield symbol.get_name()
    for child in table.get_children():
        yield from _global_names(child)


class _Bare(ast.NodeTransformer):
    """Takes away what does nothing when the code runs."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.returns = None
        return _without_docstring(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        return _without_docstring(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return ast.Pass()
        return ast.Assign(targets=[node.target], value=node.value)


def _without_docstring(node: Definition) -> Definition:
    if ast.get_docstring(node) is not None:
        node.body = node.body[1:] or [ast.Pass()]
    return node
