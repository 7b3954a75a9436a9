"""Arguments that several verbs share."""

import argparse
import os
from pathlib import Path
from typing import TypeAlias

#: What a verb's ``add_parser`` is given to add itself to.
Verbs: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_course(parser: argparse.ArgumentParser) -> None:
    """Add ``--course DIR``."""
    parser.add_argument(
        "--course",
        metavar="DIR",
        type=Path,
        help="the course's folder (default: the current one if it holds source/, else this kit's own)",
    )


def add_assignment(parser: argparse.ArgumentParser) -> None:
    """Add the assignment's name as the first argument."""
    parser.add_argument("assignment", metavar="ASSIGNMENT", help="its folder's name in source/")


def add_unsafe(parser: argparse.ArgumentParser) -> None:
    """Add ``--unsafe``."""
    parser.add_argument(
        "--unsafe",
        action="store_true",
        help="run students' code without the sandbox, with all your rights; every result will say so",
    )


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add ``--jobs N``."""
    parser.add_argument(
        "--jobs", metavar="N", type=positive, default=cores(), help="so many processes (default: one a core)"
    )


def positive(text: str) -> int:
    """A number of 1 or more; raises ArgumentTypeError where it is none."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of 1 or more")
    return int(text)


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def shown(path: Path) -> str:
    """A path as a person at the prompt would type it: relative where it lies below the current folder."""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json FILE``."""
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write the results as JSON, too; - for standard output, without a table",
    )
