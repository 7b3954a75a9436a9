"""``autograder demo``: a simulated class, graded before your eyes."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.cli.arguments import Verbs, add_unsafe, cores
from autograder.cli.grade import report_faults
from autograder.cli.results import progress_bar, show, width
from autograder.errors import SandboxError
from autograder.model import SubmissionResult, Verdict

if TYPE_CHECKING:
    from autograder.sandbox.choice import Way
    from autograder.usecases.demo import Demo

DEFAULT = "multihead"


def add_parser(verbs: Verbs) -> None:
    """Describe the verb."""
    parser = verbs.add_parser("demo", help="grade a simulated class in a scratch folder")
    parser.add_argument(
        "assignment", metavar="ASSIGNMENT", nargs="?", default=DEFAULT, help=f"default: {DEFAULT}"
    )
    parser.add_argument(
        "--into", metavar="DIR", type=Path, help="a new folder for the course (default: a temporary one)"
    )
    add_unsafe(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Build the class, grade it, print the table and where to look; returns the exit code."""
    from autograder.reporting.class_table import class_table
    from autograder.usecases.demo import run_demo

    way = _way(unsafe=args.unsafe)
    with progress_bar("grading the class") as advance:
        demo = run_demo(
            args.assignment,
            args.into.resolve() if args.into else None,
            way,
            lambda done, total, entry: advance(done, total, entry.result.student),
            jobs=cores(),
        )
    show(_stories(demo))
    show(class_table(args.assignment, [entry.result for entry in demo.entries], width=width()))
    show(_where_to_look(demo, args.assignment))
    return report_faults(demo.entries)


def _way(*, unsafe: bool) -> "Way":
    """The sandbox; where there can be none, a banner: the class is our own, and means no harm."""
    from autograder.sandbox.choice import choose

    try:
        return choose(unsafe=unsafe)
    except SandboxError as error:
        line = "*" * 80
        show(f"{line}\nTHIS DEMONSTRATION RUNS WITHOUT A SANDBOX.\n{error}\n{line}\n")
        return choose(unsafe=True)


def _stories(demo: "Demo") -> str:
    wide = max(len(student.id) for student in demo.students)
    lines = [f"  {student.id:<{wide}}  {student.story}" for student in demo.students]
    return "\n".join(["The class:", *lines, ""])


def _has_failure(result: SubmissionResult) -> bool:
    checks = [check for exercise in result.exercises for check in exercise.checks]
    return any(check.verdict is not Verdict.PASSED for check in checks)


def _where_to_look(demo: "Demo", assignment: str) -> str:
    results = [entry.result for entry in demo.entries]
    example = next((one for one in results if one.score and _has_failure(one)), results[0]).student
    graded = f"autograded/{example}/{assignment}/"
    return f"""
Where to look. The course is yours to play with:
  {demo.course}

  {graded:<30}  graded notebook, verdicts below each exercise
  {"gradebook.db":<30}  nbgrader's gradebook, with everyone's points

Try there, with the kit's .venv/bin on your PATH:
  autograder check submitted/{example}/{assignment}/{assignment}.ipynb
      what every check says of one notebook
  autograder grade {assignment}
      once more: what has not changed is not graded again
  autograder feedback {assignment}
      a page for each student, to hand back
  nbgrader export
      the grades as a table
  jupyter lab
      Formgrader, to grade the question by hand"""
