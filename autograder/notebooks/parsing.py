"""Cells as Python: their text without magics, and its syntax tree. Nothing is ever run.

Cells are IPython, not Python: magics and shell lines are set aside first. However much a notebook holds, only
so much of it is parsed, for parsing takes about a second and a few hundred MB for a million characters.
"""

import ast
import re
import threading
import warnings

#: A cell that is longer, and what comes after so many characters of a notebook, is not parsed.
MAX_CELL_CHARACTERS = 100_000
MAX_CHARACTERS = 400_000
#: Cell magics that run the rest of the cell as Python in the notebook's own namespace.
_MAGICS_LIMIT = 20
_PYTHON_MAGICS = frozenset({"capture", "prun", "time"})
_CELL_MAGIC = re.compile(r"\s*%%(\w+)[^\n]*\n?")
_MAGIC_VALUE = re.compile(r"([ \t]*\w[\w, ]*=)[ \t]*[%!]")
_warning_filters = threading.Lock()


class Parser:
    """Parses the cells of one notebook, as long as there is room for their text."""

    def __init__(self, max_characters: int = MAX_CHARACTERS):
        self._room = max_characters

    def parse(self, code: str) -> ast.Module | None:
        """The syntax tree, or None where there is none to be had; ``code`` is a ``python_part``."""
        if len(code) > MAX_CELL_CHARACTERS:
            return None
        module = self._parse(code)
        return module if module is not None else self._parse(_without_magics(code))

    def _parse(self, code: str | None) -> ast.Module | None:
        if code is None or len(code) > self._room:
            return None
        self._room -= len(code)
        # The filters are the process's own; the lock keeps two threads from restoring each other's.
        with _warning_filters, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return ast.parse(code)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return None


def python_part(source: str) -> str:
    """The text below cell magics, or nothing where that text is not run in the notebook's namespace."""
    start = 0
    for _ in range(_MAGICS_LIMIT):
        magic = _CELL_MAGIC.match(source, start)
        if magic is None:
            break
        if magic[1] not in _PYTHON_MAGICS:
            return ""
        start = magic.end()
    return source[start:]


def _without_magics(code: str) -> str | None:
    """The code with something harmless in the place of magics and shell lines; None where there are none."""
    lines = code.split("\n")
    plain = [_plain_line(line) for line in lines]
    return None if plain == lines else "\n".join(plain)


def _plain_line(line: str) -> str:
    words = line.strip(" \t")
    if words.startswith(("%", "!", "?")) or words.endswith("?"):
        return line[: len(line) - len(line.lstrip(" \t"))] + "pass"
    value = _MAGIC_VALUE.match(line)
    return line if value is None else f"{value[1]} None"
