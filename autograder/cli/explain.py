"""``autograder explain``: why a check failed, with its hidden inputs. For the instructor alone."""

import argparse
import sys

from autograder.cli.arguments import Verbs, add_assignment, add_course, add_unsafe
from autograder.cli.results import show, write_text
from autograder.errors import JudgeError
from autograder.model import Status

DESCRIPTION = """\
Replay the grading of one student's submission, as it was recorded, and show
every failed check with the inputs that were drawn, what was expected, what came,
and where they differ. Nothing is recorded.

FOR THE INSTRUCTOR ALONE: it shows hidden inputs and right answers. Never hand its
output to students; what they may know is in `autograder feedback`."""


def add_parser(verbs: Verbs) -> None:
    """Describe the verb."""
    parser = verbs.add_parser(
        "explain",
        help="explain a grade with its hidden inputs: instructor only",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_assignment(parser)
    parser.add_argument("student", metavar="STUDENT", help="the student's folder in submitted/")
    parser.add_argument("--exercise", metavar="NAME", help="only this exercise")
    parser.add_argument("--check", metavar="NAME", help="only this check, even if it passed")
    parser.add_argument("--full", action="store_true", help="show arrays of any size whole")
    parser.add_argument(
        "--force", action="store_true", help="replay what has changed since the grading, as it is now"
    )
    add_unsafe(parser)
    add_course(parser)
    parser.add_argument(
        "--json", metavar="FILE", help="write the explanation as JSON, too; - for standard output alone"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Explain; returns the exit code: 1 if a check ends otherwise than recorded, 4 for a fault of ours."""
    from autograder.assignments.catalog import find_course, load_assignment
    from autograder.reporting.explanation import explanation_to_json
    from autograder.reporting.explanation_view import explanation_view
    from autograder.sandbox.choice import choose
    from autograder.usecases.explain import explain

    assignment = load_assignment(find_course(args.course), args.assignment)
    explanation = explain(
        assignment,
        args.student,
        choose(unsafe=args.unsafe, hidden=[assignment.course]),
        exercise=args.exercise,
        check=args.check,
        force=args.force,
    )
    write_text(args.json, explanation_to_json(explanation))
    show(explanation_view(explanation, full=args.full), args.json, wide=True)
    if explanation.status is Status.JUDGE_ERROR:
        sys.stderr.write(f"autograder: {explanation.reason}\n{explanation.fault or ''}")
        return JudgeError.exit_code
    return 1 if explanation.differing and explanation.remark is None else 0
