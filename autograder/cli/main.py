"""The command line ``autograder``: finds the verb, runs it, turns errors into one message and an exit code.

A verb is a module beside this one, listed in ``VERBS``. Its ``add_parser(verbs)`` describes it and names its
``run(args)``, which carries it out and returns the exit code. What is slow to import is imported in ``run``.
"""

import argparse
import importlib.metadata
import os
import re
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from autograder.cli import certify, check, data, demo, doctor, explain, feedback, grade, lab, release
from autograder.cli.arguments import Verbs
from autograder.errors import AutograderError, CourseError, JudgeError, did_you_mean

#: In the order in which ``--help`` lists them.
VERBS = (release, grade, feedback, explain, check, certify, lab, data, demo, doctor)

EXIT_CODES = """\
exit codes: 0 done; 1 done, with a negative answer; 2 wrong use, or a course to
mend; 3 no sandbox; 4 a fault of the kit's."""

TRACEBACK = "--traceback"

INTERRUPTED = 130  # what shells report for a program ended by Ctrl-C


class Parser(argparse.ArgumentParser):
    """A parser that raises what it has to complain about instead of printing its whole usage."""

    def error(self, message: str) -> NoReturn:
        """Raise a ``CourseError``."""
        raise CourseError(f"{message}. See: {self.prog} --help")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code. ``argv`` excludes the program's name."""
    given = sys.argv[1:] if argv is None else argv
    words = [word for word in given if word != TRACEBACK]  # accepted before and after the verb
    with_traceback = TRACEBACK in given
    try:
        code = _run(words)
        sys.stdout.flush()
    except AutograderError as error:
        _complain(str(error), error if with_traceback else None)
        return error.exit_code
    except KeyboardInterrupt as interrupt:
        _complain(": ".join(["interrupted", *map(str, interrupt.args)]))
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output, such as `head`, has gone; without this, Python complains at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 - the last resort: whatever it is, it is our fault
        advice = "" if with_traceback else f" Add {TRACEBACK} to see where."
        message = f"this is a fault of the kit's, not of yours: {type(error).__name__}: {error}.{advice}"
        _complain(message, error if with_traceback else None)
        return JudgeError.exit_code
    return code


def _complain(message: str, error: BaseException | None = None) -> None:
    """Print one message to stderr, in colour on a terminal; an error given with it shows its traceback."""
    if error is not None:
        traceback.print_exception(error)
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.text import Text

        Console(stderr=True).print(Text.assemble(("autograder: ", "bold red"), message), soft_wrap=True)
    else:
        sys.stderr.write(f"autograder: {message}\n")


def _run(words: list[str]) -> int:
    parser, verbs = _build_parser()
    _refuse_unknown_verb(words, verbs)
    args, unknown = parser.parse_known_args(words)
    if args.version:
        print(f"autograder {importlib.metadata.version('autograder')}")
        return 0
    if unknown:
        _refuse_unknown_argument(unknown[0], verbs.choices[args.verb] if args.verb else parser)
    if args.verb is None:
        parser.print_help()
        return CourseError.exit_code
    code: int = args.run(args)
    return code


def _build_parser() -> tuple[argparse.ArgumentParser, Verbs]:
    parser: argparse.ArgumentParser = Parser(
        prog="autograder",
        description="Release notebook assignments, grade a class, say where it went wrong.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    parser.add_argument(TRACEBACK, action="store_true", help="with any verb: show where an error came from")
    verbs: Verbs = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs")
    for verb in VERBS:
        verb.add_parser(verbs)
    return parser, verbs


def _refuse_unknown_verb(words: list[str], verbs: Verbs) -> None:
    verb = next((word for word in words if not word.startswith("-")), None)
    if verb is not None and verb not in verbs.choices:
        raise CourseError(
            f"there is no verb {verb!r}.{did_you_mean(verb, verbs.choices)} See: autograder --help"
        )


def _refuse_unknown_argument(argument: str, parser: argparse.ArgumentParser) -> NoReturn:
    if argument.startswith("-"):
        options = re.findall(r"--[a-z-]+", parser.format_help())
        problem = f"there is no option {argument.partition('=')[0]!r}.{did_you_mean(argument, options)}"
    else:
        problem = f"one word too many: {argument!r}."
    raise CourseError(f"{problem} See: {parser.prog} --help")
