"""``autograder grade``: grade everything that was handed in, into nbgrader's gradebook."""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from autograder.cli.arguments import (
    Verbs,
    add_assignment,
    add_course,
    add_jobs,
    add_json,
    add_unsafe,
)
from autograder.cli.results import progress_bar, show, width, write_json
from autograder.errors import JudgeError
from autograder.model import Status

if TYPE_CHECKING:
    from autograder.usecases.grade import Entry


def add_parser(verbs: Verbs) -> None:
    """Describe the verb."""
    parser = verbs.add_parser("grade", help="grade what was handed in, into nbgrader's gradebook")
    add_assignment(parser)
    parser.add_argument(
        "--student", metavar="ID", action="append", default=[], help="only this student (may be repeated)"
    )
    parser.add_argument("--force", action="store_true", help="grade unchanged submissions again, too")
    add_jobs(parser)
    add_unsafe(parser)
    add_course(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Grade; returns the exit code: 4 if a submission could not be graded by a fault of ours."""
    from autograder.assignments.catalog import find_course, load_assignment
    from autograder.reporting.class_table import class_table
    from autograder.sandbox.choice import choose
    from autograder.usecases.garbage import rarely_search_for_garbage
    from autograder.usecases.grade import grade_class

    assignment = load_assignment(find_course(args.course), args.assignment)
    way = choose(unsafe=args.unsafe, hidden=[assignment.course])
    rarely_search_for_garbage()
    with progress_bar(f"grading {assignment.name}") as advance:
        entries = grade_class(
            assignment,
            way,
            students=args.student,
            force=args.force,
            jobs=args.jobs,
            progress=lambda done, total, entry: advance(done, total, entry.result.student),
        )
    results = [entry.result for entry in entries]
    show(class_table(assignment.name, results, width=width()), args.json)
    show(summary(entries), args.json)
    write_json(args.json, assignment.name, results)
    return report_faults(entries)


def summary(entries: Sequence["Entry"]) -> str:
    """What was done, and what changed since the last grading: students, their scores, exercises."""
    from autograder.reporting.table import plain

    skipped = sum(entry.skipped for entry in entries)
    failed = sum(map(_has_no_score, entries))
    done = f"{len(entries) - skipped - failed} graded, {skipped} unchanged since their last grading"
    lines = [f"{done}, {failed} without a score." if failed else f"{done}."]
    changed = [entry for entry in entries if entry.changes]
    if changed:
        lines.append("Changed since the last grading:")
    lines += [f"  {plain(entry.result.student)}: {_changes(entry)}" for entry in changed]
    return "\n".join(lines)


def _changes(entry: "Entry") -> str:
    """The old total and the new one, and the same for each exercise that changed."""
    before = None if entry.before is None else entry.before.score
    parts = [f"{one.name} {_score(one.before)} → {_score(one.now)}" for one in entry.changes]
    return f"{_score(before)} → {_score(entry.result.score)} ({', '.join(parts)})"


def _score(score: float | None) -> str:
    return "no score" if score is None else f"{score:.2f}".rstrip("0").rstrip(".")


def report_faults(entries: Sequence["Entry"]) -> int:
    """Say where we failed, and how; returns the exit code: 4 if that cost anybody a score."""
    from autograder.reporting.table import plain

    for entry in entries:
        name, reason = plain(entry.result.student), plain(entry.result.reason or "")
        if _has_no_score(entry):
            sys.stderr.write(f"autograder: {name} has no score: {reason}\n")
        elif entry.trace is not None:
            sys.stderr.write(f"autograder: {name} has a score, but no diagnosis of what is wrong\n")
        sys.stderr.write(entry.trace or "")
    return JudgeError.exit_code if any(map(_has_no_score, entries)) else 0


def _has_no_score(entry: "Entry") -> bool:
    return entry.result.status is Status.JUDGE_ERROR
