"""``autograder feedback``: what students get back, as a page, as Markdown and as plain text."""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from autograder.cli.arguments import Verbs, add_assignment, add_course, shown
from autograder.cli.results import progress_bar, show
from autograder.errors import JudgeError

if TYPE_CHECKING:
    from autograder.usecases.feedback import ClassFeedback, Entry


def add_parser(verbs: Verbs) -> None:
    """Describe the verb."""
    parser = verbs.add_parser("feedback", help="make what graded students get back")
    add_assignment(parser)
    parser.add_argument(
        "--student", metavar="ID", action="append", default=[], help="only this student (may be repeated)"
    )
    parser.add_argument("--force", action="store_true", help="write files in which nothing changed, too")
    add_course(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Make the feedback; returns the exit code: 4 if a student has none by a fault of ours."""
    from autograder.assignments.catalog import find_course
    from autograder.usecases.feedback import give_feedback

    with progress_bar(f"feedback on {args.assignment}") as advance:
        feedback = give_feedback(
            find_course(args.course),
            args.assignment,
            students=args.student,
            force=args.force,
            progress=lambda done, total, entry: advance(done, total, entry.student),
        )
    show(summary(feedback), None)
    return _report_faults(feedback.entries)


def summary(feedback: "ClassFeedback") -> str:
    """What was done, where it lies, and what is still to be graded."""
    from autograder.reporting.table import plain

    made = [entry for entry in feedback.entries if entry.fault is None]
    written = [entry for entry in made if entry.written]
    lines = [f"{len(written)} written, {len(made) - len(written)} as they were."]
    if made:
        example = (written or made)[0]
        lines.append(f"For example: {plain(shown(example.folder))} (.html, .md, .txt)")
    waiting = [entry for entry in made if entry.waiting]
    if waiting:
        names = ", ".join(dict.fromkeys(name for entry in waiting for name in entry.waiting))
        lines.append(
            f"Still to be graded by hand ({plain(names)}): {len(waiting)} of {len(made)}, and their feedback "
            "says so."
        )
    if feedback.ungraded:
        lines.append(f"Handed in, but not graded yet: {plain(', '.join(feedback.ungraded))}")
    return "\n".join(lines)


def _report_faults(entries: Sequence["Entry"]) -> int:
    """Name every student without feedback by a fault of ours; returns the exit code."""
    from autograder.reporting.table import plain

    faults = [entry for entry in entries if entry.fault is not None]
    for entry in faults:
        sys.stderr.write(
            f"autograder: {plain(entry.student)} has no new feedback: {entry.fault}\n{entry.trace}"
        )
    return JudgeError.exit_code if faults else 0
