"""A student's code with line numbers, which error messages refer to, and quiet colours."""

from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from autograder.checking.cpu_limit import CpuTimeExceeded, cpu_limit
from autograder.reporting.feedback.harmless import harmless

#: Longer cells are shown without colours.
MAX_COLOURED = 20_000
MAX_SECONDS = 2.0
MAX_LENGTH = 100_000

_LEXER = PythonLexer(stripnl=False, ensurenl=False)
_FORMATTER = HtmlFormatter(nowrap=True)


def code_lines(text: str) -> tuple[Markup, ...]:
    """The lines of a cell as HTML; one that is far too long ends early, and says so in its last line."""
    text = harmless(text)
    cut = len(text) > MAX_LENGTH
    lines = _coloured(text) if len(text) <= MAX_COLOURED else None
    if lines is None:
        lines = tuple(Markup("{}").format(line) for line in text[:MAX_LENGTH].split("\n"))
    return (*lines, Markup("[the rest of this cell is not shown here]")) if cut else lines


def _coloured(text: str) -> tuple[Markup, ...] | None:
    try:
        with cpu_limit(MAX_SECONDS):
            page = highlight(text, _LEXER, _FORMATTER)
    except CpuTimeExceeded:
        return None
    lines = page.removesuffix("\n").split("\n")
    # Only where line by line agrees are the numbers right.
    if len(lines) != text.count("\n") + 1:
        return None
    return tuple(Markup(line) for line in lines)  # written by Pygments, which escapes
