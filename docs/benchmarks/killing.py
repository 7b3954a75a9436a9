"""A class is graded while somebody kills: are all grades right in the end?

    python docs/benchmarks/killing.py --submissions 200

grades a class in peace, and the same class anew in trouble: each time that a further part of it is recorded,
the grader, a zygote or a judge is killed (SIGKILL). A grader that was killed, or that says that a submission
could not be graded by a fault of its own, is started again. Then it holds
the two gradebooks against each other, score by score, and looks for processes that were left behind. Ends
with 1 where there is a difference, and says which.
"""

import argparse
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from itertools import cycle
from pathlib import Path

from classes import NAME, build
from measure import tree

#: Who is killed, in turn, and what their commands say, by which they are known.
VICTIMS = {"grader": r" grade ", "zygote": r"^\S*python\S* .* zygote ", "judge": r"spawn_main"}
KILLS = 9
#: A grader's exit code where it names a submission that is still to be graded.
OUR_FAULT = 4
PATIENCE_SECONDS = 600.0
SCORES = """
    SELECT submitted_assignment.student_id, base_cell.name, grade.auto_score FROM grade
    JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id
    JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id
    JOIN base_cell ON base_cell.id = grade.cell_id
"""
Scores = dict[tuple[str, str], float | None]


def main() -> None:
    """Grade twice, compare, say what happened as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=200)
    parser.add_argument("--kills", type=int, default=KILLS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="killing-") as folder:
        peaceful = build(Path(folder) / "peaceful", options.submissions)
        troubled = Path(shutil.copytree(peaceful, Path(folder) / "troubled"))
        with _grading(peaceful) as grader:
            grader.wait(PATIENCE_SECONDS)
        killed = grade_in_trouble(troubled, options.submissions, options.kills)
        expected, found = scores(peaceful), scores(troubled)
        left = _left_behind(troubled)
    different = sorted({*expected.items()} ^ {*found.items()}, key=str)
    told = {
        "submissions": len({student for student, _ in found}),
        "scores": len(found),
        "killed": killed,
        "different": different,
        "left_behind": left,
    }
    sys.stdout.write(json.dumps(told, indent=1) + "\n")
    sys.exit(1 if different or left else 0)


def grade_in_trouble(course: Path, submissions: int, kills: int) -> list[str]:
    """Grade to the end in spite of all; returns who was killed, in order."""
    killed: list[str] = []
    victims = cycle(VICTIMS)
    victim = next(victims)
    while True:
        with _grading(course) as grader:
            while grader.poll() is None:
                due = (len(killed) + 0.5) * submissions / kills
                if len(killed) < kills and _recorded(course) >= due and _kill(victim, grader.pid):
                    killed.append(victim)
                    victim = next(victims)
                time.sleep(0.05)
        if grader.returncode == 0:
            return killed
        if grader.returncode not in (-signal.SIGKILL, OUR_FAULT):
            raise SystemExit(f"the grader ended with {grader.returncode}")


def scores(course: Path) -> Scores:
    """The scores of a course's gradebook, by student and cell; a row that is there twice ends the program."""
    with sqlite3.connect(course / "gradebook.db") as database:
        rows = database.execute(SCORES).fetchall()
    found = {(student, cell): score for student, cell, score in rows}
    if len(found) != len(rows):
        raise SystemExit("the gradebook holds scores twice")
    return found


def _grading(course: Path) -> "subprocess.Popen[bytes]":
    command = [str(Path(sys.executable).with_name("autograder")), "grade", NAME, "--course", str(course)]
    scratch = course / "tmp"
    scratch.mkdir(exist_ok=True)
    return subprocess.Popen(
        [*command, "--json", str(course / "results.json")],
        env=os.environ | {"TMPDIR": str(scratch)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _recorded(course: Path) -> int:
    return len(list((course / ".autograder" / NAME / "records").glob("*.json")))


def _kill(victim: str, grader: int) -> bool:
    """Kill one; says whether there was one."""
    for pid in tree(grader):
        if re.search(VICTIMS[victim], _told(pid, "cmdline"), re.DOTALL):
            os.kill(pid, signal.SIGKILL)
            return True
    return False


def _left_behind(course: Path) -> list[str]:
    """The commands of processes that still have to do with the course: it stands in all they were given."""
    time.sleep(2.0)
    numbers = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    given = {pid: _told(pid, "cmdline") + _told(pid, "environ") for pid in numbers if pid != os.getpid()}
    return [text[:200] for text in given.values() if str(course) in text]


def _told(pid: int, file: str) -> str:
    try:
        return Path(f"/proc/{pid}/{file}").read_text(errors="replace").replace("\0", " ")
    except OSError:
        return ""


if __name__ == "__main__":
    main()
