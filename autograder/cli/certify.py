"""``autograder certify``: try an assignment's checks on right solutions and on known mistakes."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.cli.arguments import Verbs, add_assignment, add_course, add_jobs, positive, shown
from autograder.cli.results import STDOUT, progress_bar, show, write_text

if TYPE_CHECKING:
    from autograder.assignments.catalog import Assignment
    from autograder.reporting.certificate import Certificate

SEEDS = 1000
NEGATIVE = 1


def add_parser(verbs: Verbs) -> None:
    """Describe the verb."""
    parser = verbs.add_parser("certify", help="try the checks on right solutions and known mistakes")
    add_assignment(parser)
    parser.add_argument(
        "--seeds", metavar="N", type=positive, default=SEEDS, help=f"on so many hidden inputs ({SEEDS})"
    )
    parser.add_argument(
        "--complete",
        action="store_true",
        help="try everything with every check on each seed, which takes several times as long",
    )
    parser.add_argument(
        "--json", metavar="FILE", help="where to write the certificate as JSON; - for standard output"
    )
    parser.add_argument("--page", metavar="FILE", type=Path, help="where to write it as a page")
    add_jobs(parser)
    add_course(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Certify; returns the exit code: 1 if a mistake survives or a right solution fails."""
    from autograder.assignments.catalog import find_course, load_assignment
    from autograder.reporting.certificate_table import certificate_table
    from autograder.usecases.certify import certify, plan_of

    assignment = load_assignment(find_course(args.course), args.assignment)
    with progress_bar(f"certifying {assignment.name}") as advance:
        certificate = certify(
            assignment,
            plan_of(args.seeds, complete=args.complete),
            processes=args.jobs,
            progress=lambda done, total: advance(done, total, ""),
        )
    show(certificate_table(certificate), args.json)
    _store(certificate, assignment, args.json, args.page)
    return 0 if certificate.holds else NEGATIVE


def _store(certificate: "Certificate", assignment: "Assignment", json: str | None, page: Path | None) -> None:
    """Write JSON and page; what has no place of its own goes into the course's private folder."""
    from autograder.assignments.private import private_folder
    from autograder.reporting.certificate import certificate_to_json
    from autograder.reporting.certificate_page import certificate_page

    def place(suffix: str) -> str:
        return str(private_folder(assignment.course, assignment.name) / f"certificate{suffix}")

    targets = {
        json or place(".json"): certificate_to_json(certificate),
        str(page or place(".html")): certificate_page(certificate),
    }
    for target, text in targets.items():
        write_text(target, text)
    show("Stored: " + ", ".join(shown(Path(one)) for one in targets if one != STDOUT), json)
