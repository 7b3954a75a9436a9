"""Text without anything that a terminal, a mail program or a page could take for a command."""

import re

#: Escape sequences of terminals: colours, titles, links.
_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
#: Control characters but tab and newline, marks that turn the direction of reading, separators, surrogates.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
REPLACEMENT = "\ufffd"


def harmless(text: str) -> str:
    r"""The text with line ends of Unix; each control character that is left shows as U+FFFD.

    >>> harmless("a\x1b[31mred\x1b[0m\x07")
    'ared\ufffd'
    """
    return _CONTROL.sub(REPLACEMENT, _TERMINAL.sub("", text.replace("\r\n", "\n")))


def as_displayed(text: str) -> str:
    r"""An output as a terminal would have left it: what a carriage return overwrites is gone.

    >>> as_displayed("10 %\r20 %\r\ndone")
    '20 %\ndone'
    """
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return harmless("\n".join(lines))


def one_line(text: str) -> str:
    """Harmless text in a single line."""
    return " ".join(harmless(text).split())
