"""Every error that the kit raises on purpose, sorted by who has to act on it.

A message says what is wrong, where, and what to do. The command line prints the message alone and
leaves with the class's exit code.
"""

import difflib
from collections.abc import Iterable


class AutograderError(Exception):
    """Base of all errors that the kit raises on purpose."""

    exit_code = 4


class CourseError(AutograderError):
    """The instructor has to mend the course, or the command that was typed."""

    exit_code = 2


class SubmissionError(AutograderError):
    """The student has to hand in something else; the message goes into the result as its reason."""

    exit_code = 1


class SandboxError(AutograderError):
    """This machine cannot run student code as safely as was asked for."""

    exit_code = 3


class JudgeError(AutograderError):
    """A fault of ours: never a zero for the student, always "needs attention"."""

    exit_code = 4


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A sentence, with a space before it, that names what comes nearest to a misspelt word; else nothing.

    >>> did_you_mean("multi-head", ["multihead", "tokens"])
    " Did you mean 'multihead'?"
    >>> did_you_mean("pictures", ["multihead", "tokens"])
    ''
    """
    nearest = difflib.get_close_matches(word, list(known), n=1)
    return f" Did you mean {nearest[0]!r}?" if nearest else ""
