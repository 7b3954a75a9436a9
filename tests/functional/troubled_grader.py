"""Trouble for a grader, again and again: what it leaves behind, and what the next one makes of that.

    python troubled_grader.py COURSE WORK < troubles.json

COURSE is a course in which somebody is graded already and others have handed in since; it is copied into WORK
for each trouble. The answer is a list of reports, the first one of a grader without any. A trouble is one of

    {"event": share}        killed by SIGKILL at the event so far between its first and its last one:
                            what audit hooks tell of files and processes, and what the database does
    {"seconds": seconds}    killed from outside, after so long, with two judges in processes of their own
    {"fresh": seconds}      killed from outside, while nbgrader makes the gradebook of a course that has none
    {"room": kilobytes}     a disk with so much room
    {"read_only": folder}   a folder of the course that cannot be written to
    {"twice": true}         two graders at once

Everything runs in forks of this process, which has imported nbgrader once; it adopts what killed graders
leave behind, so that nothing can hide.
"""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine

from autograder.cli import main as kit
from autograder.usecases import grade  # noqa: F401 - what grading imports, before the forks

SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
#: So long processes may live that have lost their grader: they take their leave, on a busy machine, too.
ORPHAN_SECONDS = 15.0
#: nbgrader is to be ended at once; by itself it needs longer than that.
NBGRADER_SECONDS = 1.5
#: Audit events after which something on disk, or a process, is another one.
TELLING = ("open", "os.", "shutil.", "sqlite3.connect", "subprocess.Popen", "tempfile.")

Trouble = dict[str, Any]


class Events:
    """Counts events, and kills this very process at one of them."""

    def __init__(self, last: int | None = None):
        self.count = 0
        self._last = last

    def happened(self, *_: Any) -> None:
        """One more."""
        self.count += 1
        if self.count == self._last:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self) -> None:
        """Count from now on."""
        sys.addaudithook(lambda name, _: self.happened() if name.startswith(TELLING) else None)
        for name in ("before_cursor_execute", "after_cursor_execute", "commit"):
            event.listen(Engine, name, self.happened)


class Grading:
    """One ``autograder grade`` in a fork; ``said`` is what it printed."""

    def __init__(self, course: Path, events: Events | None = None, jobs: int = 1):
        self._output = Path(f"output-{time.monotonic_ns()}")
        self.process = os.fork()
        if self.process == 0:
            with self._output.open("wb") as output:
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
            if events is not None:
                events.watch()
            code = kit.main(["grade", "toy", "--course", str(course), "--jobs", str(jobs)])
            if events is not None:
                Path("events").write_text(str(events.count))
            os._exit(code)

    def end(self) -> tuple[int, str]:
        """Its exit code, negative where a signal ended it, and what it said."""
        code = os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
        return code, self._output.read_text()

    def kill_after(self, seconds: float) -> tuple[int, str]:
        """Let it work for a while."""
        time.sleep(seconds)
        os.kill(self.process, signal.SIGKILL)
        return self.end()


class Troubles:
    """Knows what a grader does, and makes trouble for others."""

    def __init__(self, course: Path):
        self.undisturbed = Grading(course, Events()).end()
        self._events = int(Path("events").read_text())

    def make(self, course: Path, trouble: Trouble) -> list[tuple[int, str]]:
        """What became of the graders."""
        ((kind, value),) = trouble.items()
        if kind == "event":
            return [Grading(course, Events(max(1, round(value * self._events)))).end()]
        if kind == "twice":
            graders = [Grading(course), Grading(course)]
            return [one.end() for one in graders]
        if kind == "fresh":
            for name in ("autograded", ".autograder"):
                shutil.rmtree(course / name)
            (course / "gradebook.db").unlink()
        if kind in ("fresh", "seconds"):
            return [Grading(course, jobs=2 if kind == "seconds" else 1).kill_after(value)]
        with little_room(course, value) if kind == "room" else read_only(course / value):
            return [Grading(course).end()]


@contextlib.contextmanager
def little_room(course: Path, kilobytes: int) -> Iterator[None]:
    """A disk that is full but for so much."""
    used = os.statvfs(course)
    ballast = course.parent / "ballast"
    ballast.write_bytes(bytes(max(0, used.f_bavail * used.f_bsize - kilobytes * 1024)))
    try:
        yield
    finally:
        ballast.unlink()


@contextlib.contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """A folder that cannot be written to, not even by root."""
    if os.geteuid() != 0:
        folder.chmod(0o555)
        yield
        folder.chmod(0o755)
        return
    subprocess.run(["mount", "--bind", folder, folder], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def orphans(seconds: float) -> int:
    """How many processes outlive their grader; they are killed here."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.01)
        except ChildProcessError:
            return 0
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    for child in children:
        os.kill(int(child), signal.SIGKILL)
        os.waitpid(int(child), 0)
    return len(children)


GRADES = """
SELECT student_id, base_cell.name, auto_score, manual_score, extra_credit, needs_manual_grade
FROM grade
JOIN base_cell ON base_cell.id = grade.cell_id
JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id
JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id
ORDER BY 1, 2
"""


def state(course: Path) -> Any:
    """What counts of a course: whether the gradebook is sound, its grades, the files of pages and records."""
    rows, sound = [], "ok"
    if (course / "gradebook.db").exists():
        with contextlib.closing(sqlite3.connect(course / "gradebook.db")) as book:
            sound = book.execute("PRAGMA integrity_check").fetchone()[0]
            rows = book.execute(GRADES).fetchall()
    files = (*course.glob("autograded/**/*"), *course.glob(".autograder/**/*"))
    texts = {str(one.relative_to(course)): one.read_text("latin-1") for one in files if one.is_file()}
    return {"sound": sound, "rows": rows, "files": texts}


def report(course: Path, ended: list[tuple[int, str]], seconds: float = ORPHAN_SECONDS) -> Any:
    """What a grader left ``seconds`` after its end, and what the next one makes of it."""
    left = orphans(seconds)
    torn = state(course)
    code, said = Grading(course).end()
    healed = state(course)
    return {"ended": ended, "orphans": left, "torn": torn, "code": code, "said": said, "healed": healed}


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """A file system of its own below a folder; whether there can be one."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder]
    mounted = subprocess.run(command, check=False, capture_output=True).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", folder], check=True)


def main() -> None:
    template, work = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    os.chdir(work)
    ctypes.CDLL(None).prctl(SUBREAPER, 1)

    def copy(folder: Path) -> Path:
        shutil.rmtree(folder, ignore_errors=True)
        return Path(shutil.copytree(template, folder))

    course = copy(work / "course")
    troubles = Troubles(course)
    reports = [report(course, [troubles.undisturbed])]
    with small_disk(work / "disk") as has_disk:
        for trouble in json.load(sys.stdin):
            if not has_disk and "room" in trouble:
                reports.append(None)
                continue
            course = copy(work / "disk" / "course" if "room" in trouble else work / "course")
            seconds = NBGRADER_SECONDS if "fresh" in trouble else ORPHAN_SECONDS
            reports.append(report(course, troubles.make(course, trouble), seconds))
    json.dump(reports, sys.stdout)


if __name__ == "__main__":
    main()
