"""``autograder doctor``: what this machine's sandbox keeps from student code."""

import argparse
import json
import os
import platform
from typing import TYPE_CHECKING, Any

from autograder.assignments.environment import how_to_install
from autograder.cli.arguments import Verbs
from autograder.cli.results import show, write_text
from autograder.errors import SandboxError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from autograder.usecases.doctor import Examined

FORMAT_VERSION = 1
DESCRIPTION = (
    "Try, as a hostile notebook would, what the sandbox is to keep from students' code, and show beside it "
    "what the same attempt gets without the sandbox. The exit code is 3 if anything gets through."
)


def add_parser(verbs: Verbs) -> None:
    """Describe the verb."""
    parser = verbs.add_parser(
        "doctor",
        help="try out what the sandbox keeps from students' code",
        description=DESCRIPTION,
    )
    parser.add_argument(
        "--json", metavar="FILE", help="write the findings as JSON, too; - for standard output alone"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Examine the machine; returns the exit code: 3 where something is not kept from student code."""
    from autograder.sandbox.choice import choose
    from autograder.usecases.doctor import examine_machine

    examined = examine_machine(choose())
    write_text(args.json, json.dumps(_data(examined), indent=2) + "\n")
    show(_view(examined), args.json)
    return 0 if all(one.is_kept for one in examined.findings) else SandboxError.exit_code


def _data(examined: "Examined") -> dict[str, Any]:
    """The findings in the format of ``docs/security.md``."""
    return {
        "format_version": FORMAT_VERSION,
        "kernel": platform.release(),
        "root": os.geteuid() == 0,
        "rooms": examined.rooms,
        "worker_bytes": examined.worker_bytes,
        "missing_packages": {name: list(packages) for name, packages in examined.missing.items()},
        "probes": [
            {
                "name": one.name,
                "what": one.what,
                "kept": one.is_kept,
                "inside": list(one.inside),
                "outside": list(one.outside),
            }
            for one in examined.findings
        ],
    }


def _view(examined: "Examined") -> "RenderableType":
    """A line for each probe, and in words what the machine can do."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("", "student code is to have no ...", "in the sandbox", "without it"):
        table.add_column(heading, overflow="fold")
    for one in examined.findings:
        mark = Text("✓", "green") if one.is_kept else Text("✗", "bold red")
        table.add_row(mark, one.what, Text(_words(one.inside)), Text(_words(one.outside), "dim"))
    return Group(*map(Text, _sentences(examined)), table)


def _words(found: tuple[str, ...]) -> str:
    return ", ".join(found) or "nothing"


def _sentences(examined: "Examined") -> list[str]:
    leaks = [one.name for one in examined.findings if not one.is_kept]
    user = "root: student code runs as a user of its own" if os.geteuid() == 0 else "an ordinary user"
    runs = "a room of its own in one warm box" if examined.rooms else "a whole box of its own, which is slow"
    memory = "" if examined.worker_bytes is None else f", which takes {examined.worker_bytes >> 20} MiB"
    kept = (
        f"NOT KEPT from student code: {', '.join(leaks)}." if leaks else "Everything is kept as it should be."
    )
    wanting = [
        f"{name} cannot be graded here: it needs {' and '.join(packages)}, not installed. "
        f"Install it: {how_to_install(packages)}."
        for name, packages in examined.missing.items()
    ]
    return [f"The sandbox works here, as {user}. Every notebook gets {runs}{memory}.", kept, *wanting]
