"""``autograder check``: grade one notebook and show what every check says."""

import argparse
import sys
from pathlib import Path

from autograder.cli.arguments import Verbs, add_course, add_json, add_unsafe
from autograder.cli.results import show, write_json
from autograder.errors import JudgeError
from autograder.model import Status, SubmissionResult, Verdict


def add_parser(verbs: Verbs) -> None:
    """Describe the verb."""
    parser = verbs.add_parser("check", help="grade one notebook, without any gradebook")
    parser.add_argument("notebook", metavar="NOTEBOOK", type=Path, help="the .ipynb file")
    parser.add_argument(
        "--assignment", metavar="NAME", help="its assignment (default: by the file's or its folder's name)"
    )
    add_unsafe(parser)
    add_course(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Check; returns the exit code: 1 if a check fails or nothing can be read, 4 for a fault of ours."""
    from autograder.assignments.catalog import find_course, load_assignment
    from autograder.reporting.table import submission_table
    from autograder.sandbox.choice import choose
    from autograder.usecases.check import assignment_of, check_notebook

    course = find_course(args.course)
    assignment = load_assignment(course, assignment_of(course, args.notebook, args.assignment))
    way = choose(unsafe=args.unsafe, hidden=[course])
    graded = check_notebook(assignment, args.notebook, way)
    show(submission_table(assignment.name, graded.result, cut=sys.stdout.isatty()), args.json)
    write_json(args.json, assignment.name, [graded.result])
    if graded.result.status is Status.JUDGE_ERROR:
        sys.stderr.write(f"autograder: {graded.result.reason}\n{graded.trace or ''}")
        return JudgeError.exit_code
    return 0 if _all_passed(graded.result) else 1


def _all_passed(result: SubmissionResult) -> bool:
    checks = [check for exercise in result.exercises for check in exercise.checks]
    return result.status is Status.GRADED and all(check.verdict is Verdict.PASSED for check in checks)
