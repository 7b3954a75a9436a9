"""``autograder lab``: train the models of an assignment's experiment."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.cli.arguments import Verbs, add_assignment, add_course, add_json, positive, shown
from autograder.cli.results import progress_bar, show, write_text

if TYPE_CHECKING:
    from autograder.usecases.lab import Plan

#: What labs vary. Each knows one of these; ``docs/labs.md`` says how a lab of another kind is added.
OPTIONS = {"replace": "the projection that the input replaces", "heads": "the number of heads"}


def add_parser(verbs: Verbs) -> None:
    """Describe the verb."""
    parser = verbs.add_parser("lab", help="train the models of an assignment's experiment")
    add_assignment(parser)
    for option, meaning in OPTIONS.items():
        parser.add_argument(
            f"--{option}",
            metavar="WHICH",
            action="append",
            default=[],
            help=f"{meaning} (may be given several times; default: each in turn)",
        )
    parser.add_argument(
        "--data",
        metavar="TEXT",
        default="embedded",
        help="embedded (the default), tinyshakespeare, or a file",
    )
    parser.add_argument("--full", action="store_true", help="the lesson's two epochs, not the short setting")
    parser.add_argument("--steps", metavar="N", type=positive, help="so many steps instead")
    parser.add_argument(
        "--seed",
        metavar="N",
        type=int,
        action="append",
        default=[],
        help="of all chance (may be given several times; default: 42)",
    )
    parser.add_argument(
        "--into", metavar="DIR", type=Path, help="for checkpoints, metrics and pictures (labs/ASSIGNMENT)"
    )
    add_json(parser)
    add_course(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Train, show the table, store the rest; returns the exit code."""
    from autograder.assignments.catalog import find_course
    from autograder.usecases.lab import metrics, plan_lab, run_plan

    plan = plan_lab(
        find_course(args.course),
        args.assignment,
        data=args.data,
        chosen={option: getattr(args, option) for option in OPTIONS},
        seeds=args.seed,
        full=args.full,
        steps=args.steps,
    )
    folder = args.into or Path("labs") / args.assignment
    with progress_bar("training") as advance:
        outcomes = run_plan(plan, folder.resolve(), _over_all(plan, advance))
    compared = plan.experiment.comparison.Comparison(plan.lab, outcomes)
    show(f"{compared.table()}\n\n{compared.times()}\n", args.json)
    show(f"Stored in {shown(folder.resolve())}: metrics.json, pictures, and the runs.", args.json)
    write_text(args.json, metrics(plan, outcomes))
    return 0


def _over_all(plan: "Plan", advance: Callable[[int, int, str], None]) -> Any:
    """One bar over all runs: each has the same number of steps."""
    titles: list[str] = []

    def tell(title: str, done: int, total: int, loss: float) -> None:
        if title not in titles:
            titles.append(title)
        all_done = (len(titles) - 1) * total + done
        advance(all_done, len(plan.runs) * total, f"{title}: loss {loss:.2f}")

    return tell
