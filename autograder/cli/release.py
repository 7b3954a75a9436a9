"""``autograder release``: make the student version of an assignment and a zip to hand out."""

import argparse

from autograder.cli.arguments import Verbs, add_assignment, add_course


def add_parser(verbs: Verbs) -> None:
    """Describe the verb."""
    parser = verbs.add_parser("release", help="make the student version of an assignment, and a zip of it")
    add_assignment(parser)
    add_course(parser)
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--check", action="store_true", help="change nothing; exit 1 if the release there is not fresh"
    )
    how.add_argument("--force", action="store_true", help="overwrite released files that were edited by hand")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Release, or check the release there; returns the exit code."""
    return 0
