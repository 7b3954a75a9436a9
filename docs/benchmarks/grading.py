"""``make bench``: grading a class by stock nbgrader and by this kit, side by side in one run.

Every contestant gets a fresh course with the same kinds of submissions (``classes.py``), made from the same
source notebook; stock nbgrader runs the same checks in the student's kernel. All commands are run as a person
would, their start-up included. Then ``autograder grade`` grades classes of growing size. The floor
(``floor.py``) is what one notebook costs where nobody judges it.

Writes ``grading.json`` and ``grading.svg`` into the folder ``--output``.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from classes import NAME, build
from measure import CommandFailed, run
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
NBGRADER = ["nbgrader", "autograde", NAME]
OURS = ["autograder", "grade", NAME, "--json", "results.json"]
ROUNDS = 3
console = Console(stderr=True)


def main() -> None:
    """Measure, show, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("bench"), help="folder for the results")
    parser.add_argument("--stock", type=int, default=10, help="submissions for stock nbgrader")
    parser.add_argument("--ours", type=int, default=100, help="submissions for this kit")
    parser.add_argument("--growth", type=int, nargs="*", default=[10, 100, 1000], help="class sizes")
    parser.add_argument("--unsafe", action="store_true", help="grade without the sandbox")
    options = parser.parse_args()
    unsafe = ["--unsafe"] if options.unsafe else []
    result: dict[str, Any] = {"machine": machine(), "sandbox": not options.unsafe}
    result["notebook"] = one_notebook(unsafe)
    result["class"] = contestants(options.stock, options.ours, unsafe)
    result["growth"] = [grow(size, unsafe) for size in options.growth]
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / "grading.json"
    path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    show(result)
    draw(result, options.output / "grading.svg")
    console.print(f"Written: {path} and {path.with_suffix('.svg')}")


def machine() -> dict[str, Any]:
    """What it was measured on."""
    return {"cores": os.cpu_count(), "python": platform.python_version(), "system": platform.system()}


def one_notebook(unsafe: Sequence[str]) -> dict[str, Any]:
    """Seconds of run and examination of the solved notebook, and of the floor: medians, taken in turn."""
    console.print("floor, and run and examination of one notebook ...")
    taken = [(_script("floor.py"), _script("judging.py", *unsafe)) for _ in range(ROUNDS)]
    floor, judged = (statistics.median(one) for one in zip(*taken, strict=True))
    return {"floor": floor, "judged": judged, "ratio": judged / floor}


def contestants(stock: int, ours: int, unsafe: Sequence[str]) -> dict[str, Any]:
    """The same kinds of submissions, graded by each contestant."""
    grade = [*OURS, *unsafe]
    found = {
        "stock nbgrader autograde": measure(stock, NBGRADER, stock=True),
        "our nbgrader autograde": measure(ours, NBGRADER),
        "autograder grade --jobs 1": measure(ours, [*grade, "--jobs", "1"]),
        "autograder grade": measure(ours, grade),
    }
    slowest = found["stock nbgrader autograde"]["per_submission"]
    return {name: one | {"times_stock": slowest / one["per_submission"]} for name, one in found.items()}


def grow(submissions: int, unsafe: Sequence[str]) -> dict[str, Any]:
    """One class of that size, on all cores."""
    return measure(submissions, [*OURS, *unsafe])


def measure(submissions: int, command: Sequence[str], *, stock: bool = False) -> dict[str, Any]:
    """Build a course, grade it, forget it."""
    console.print(f"{' '.join(command)} ... {submissions} submissions{' (stock)' if stock else ''}")
    with _course(submissions, stock=stock) as course:
        if command[0] == "nbgrader":  # it wants to have released what it grades
            run(["nbgrader", "generate_assignment", NAME], course)
        taken = run(command, course).per(submissions)
        graded = len(list(course.glob(f"autograded/*/{NAME}/{NAME}.ipynb")))
        if graded < submissions:
            raise CommandFailed(f"{' '.join(command)} graded {graded} of {submissions} submissions")
        return taken


@contextmanager
def _course(submissions: int, *, stock: bool) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        yield build(Path(folder) / "course", submissions, stock=stock)


def _script(name: str, *arguments: str) -> float:
    command = [sys.executable, str(HERE / name), *arguments]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return float(json.loads(printed)["seconds"])


def show(result: dict[str, Any]) -> None:
    """A table for the eye."""
    table = Table("", "submissions", "seconds", "s each", "times stock", "peak MiB")
    for name, one in result["class"].items():
        table.add_row(name, *_numbers(one), f"{one['times_stock']:.1f}", f"{one['peak_mib']:.0f}")
    for one in result["growth"]:
        table.add_row("autograder grade", *_numbers(one), "", f"{one['peak_mib']:.0f}")
    console.print(table)
    one = result["notebook"]
    console.print(
        f"One solved notebook, run and examined: {one['judged'] * 1000:.0f} ms, "
        f"{one['ratio']:.2f} times the floor of {one['floor'] * 1000:.0f} ms."
    )


def _numbers(one: dict[str, Any]) -> list[str]:
    return [str(one["submissions"]), f"{one['seconds']:.1f}", f"{one['per_submission']:.3f}"]


def draw(result: dict[str, Any], path: Path) -> None:
    """Seconds for each submission by contestant, and how time and memory grow."""
    import matplotlib as mpl  # noqa: PLC0415 (the benchmark itself needs no picture)

    mpl.use("svg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 3.6), layout="constrained")
    names = list(result["class"])[::-1]
    bars = left.barh(names, [result["class"][name]["per_submission"] for name in names], color="#0072B2")
    left.bar_label(bars, fmt="%.3f s", padding=3)
    left.axvline(result["notebook"]["floor"], color="#D55E00", linestyle=":", label="floor")
    left.set(xscale="log", xlabel="seconds for each submission", title="One class")
    left.margins(x=0.3)
    left.legend()
    sizes = [one["submissions"] for one in result["growth"]]
    for axes, key, label in ((middle, "seconds", "seconds"), (right, "peak_mib", "peak memory (MiB)")):
        axes.plot(sizes, [one[key] for one in result["growth"]], "o-", color="#0072B2")
        axes.set(xscale="log", xlabel="submissions", ylabel=label, title="autograder grade, all cores")
        axes.set_ylim(bottom=0)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
