"""Functions that were torn apart: one cell was split in two or more, in the middle of a function.

Only whole pieces run: the first half alone would be another function, or none.
"""

import ast
import textwrap
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from autograder.notebooks.parsing import Parser, python_part

#: So many cells are put together at most.
PIECES_LIMIT = 6
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


@dataclass(frozen=True)
class Whole:
    """A text put together from the cell ``first`` and those after it up to ``last``."""

    first: int
    last: int
    text: str


def rejoin(texts: Mapping[int, str], beginnings: Collection[int]) -> tuple[Whole, ...]:
    """What belongs together of the cells that run; ``beginnings`` are those in which a function begins."""
    parser = Parser()
    wholes: list[Whole] = []
    for first in sorted(beginnings):
        after_others = not wholes or wholes[-1].last < first
        if first in texts and after_others and (whole := _whole(texts, first, beginnings, parser)):
            wholes.append(whole)
    return tuple(wholes)


def _whole(texts: Mapping[int, str], first: int, beginnings: Collection[int], parser: Parser) -> Whole | None:
    """The longest program that begins in a cell and goes on in fragments; None where the cell is whole."""
    pieces = list(_continuations(texts, first, beginnings))
    if not pieces:
        return None
    broken = parser.parse(python_part(texts[first])) is None
    whole = None
    text = texts[first]
    for last, piece in enumerate(pieces, start=first + 1):
        text = f"{text}\n{piece}"
        torn = broken or _is_fragment(piece, parser)
        if torn and parser.parse(python_part(text)) is not None:
            whole = Whole(first, last, text)
            broken = False
    return whole


def _continuations(texts: Mapping[int, str], first: int, beginnings: Collection[int]) -> Iterator[str]:
    """The texts of the cells directly below that begin with an indented line."""
    for index in range(first + 1, first + PIECES_LIMIT):
        text = texts.get(index, "")
        if index in beginnings or not text.lstrip("\n").startswith((" ", "\t")):
            return
        yield text


def _is_fragment(piece: str, parser: Parser) -> bool:
    """Whether a text makes no sense by itself: it is no Python, or returns from nowhere."""
    module = parser.parse(python_part(textwrap.dedent(piece)))
    if module is None:
        return True
    waiting: list[ast.AST] = [module]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, _SCOPES):
            waiting.extend(ast.iter_child_nodes(node))
    return False
