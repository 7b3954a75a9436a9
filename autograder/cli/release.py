"""``autograder release``: make the student version of an assignment and a zip to hand out."""

import argparse
from pathlib import Path

from autograder.cli.arguments import Verbs, add_assignment, add_course, shown


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
    from autograder.assignments.catalog import find_course

    course = find_course(args.course)
    return _check(course, args.assignment) if args.check else _release(course, args.assignment, args.force)


def _check(course: Path, name: str) -> int:
    from autograder.usecases.release import check_release

    differences = check_release(course, name)
    for difference in differences:
        print(f"assignments/{difference.path}: {difference.problem}")
    if differences:
        print(f"The release of {name} is stale. Make it anew: autograder release {name}")
        return 1
    print(f"assignments/{name}: fresh")
    return 0


def _release(course: Path, name: str, force: bool) -> int:
    from autograder.usecases.release import release

    made = release(course, name, force=force)
    changed = f"{len(made.differences)} changed" if made.differences else "nothing changed"
    print(f"{shown(made.folder)}: {len(made.files)} files, {changed}")
    print(f"{shown(made.archive)}: the same as a zip, to hand out")
    return 0
