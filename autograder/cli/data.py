"""``autograder data``: bring a text to train on into the course."""

import argparse
from pathlib import Path

from autograder.cli.arguments import Verbs, add_course, shown
from autograder.cli.results import show


def add_parser(verbs: Verbs) -> None:
    """Describe the verb."""
    parser = verbs.add_parser("data", help="fetch a text to train on, or take a copy of it")
    parser.add_argument("dataset", metavar="DATASET", help="its name: tinyshakespeare")
    parser.add_argument(
        "--from", metavar="FILE", type=Path, dest="local", help="a copy of it: nothing is fetched"
    )
    add_course(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Fetch or copy, check, tell where it lies; returns the exit code."""
    from autograder.assignments.catalog import find_course
    from autograder.usecases.datasets import find_dataset, obtain

    place = obtain(find_course(args.course), find_dataset(args.dataset), args.local)
    show(f"{args.dataset}: {shown(place)}, its checksum is right.")
    return 0
