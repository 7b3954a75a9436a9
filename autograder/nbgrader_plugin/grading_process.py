"""The process that grades for one `nbgrader autograde`: its end of a conversation in lines of JSON.

nbgrader may run inside the Jupyter server, for weeks. A process of its own has the checks as they are now,
keeps a warm worker for all submissions of one command, and cannot harm the server. It reads from standard
input, answers each line with one line on standard output, and ends with its parent, or when it has had
nothing to do for a while::

    {"course": ..., "assignment": ..., "unsafe": ..., "directory": {...}}    once, without an answer
    {"student": ...}  ->  {"status": ..., "score": ..., ...}  what became of the submission
                      or  {"fault": ...}                      why nothing could be graded

``directory`` holds traits of nbgrader's ``CourseDirectory`` as they are in the parent, which may have got
them on its command line.
"""

import json
import os
import select
import signal
import traceback
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from io import RawIOBase
from pathlib import Path
from types import FrameType
from typing import Any

from autograder.assignments.catalog import Assignment, load_assignment
from autograder.assignments.private import course_secret, grading_lock
from autograder.errors import AutograderError, CourseError
from autograder.gradebook.book import Gradebook
from autograder.gradebook.configuration import CourseConfiguration
from autograder.reporting.records import Records
from autograder.sandbox.choice import choose
from autograder.usecases.grade import Entry, Grader
from autograder.usecases.judges import OneJudge

#: Long enough for what nbgrader does between two submissions; the worker's memory is free again soon.
IDLE_SECONDS = 20.0
#: A grader at work is waited for that long.
LOCK_SECONDS = 30.0

Json = dict[str, Any]


@dataclass(frozen=True)
class Course:
    """What the first line asks for, ready to grade."""

    assignment: Assignment
    configuration: CourseConfiguration
    judges: OneJudge
    sandboxed: bool


def main() -> None:
    """Answer requests until the parent is gone or asks no more."""
    signal.signal(signal.SIGTERM, _leave)
    # What a module of the course prints must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    lines = _lines(os.fdopen(0, "rb", buffering=0))  # a buffer would hide lines from select
    order = next(lines, None)
    if order is None:
        return
    with ExitStack() as stack:
        course: Course | None = None
        for request in lines:
            try:
                if course is None:
                    course = _open(order, stack)
                answer = _answer(_grade(course, request["student"]))
            except AutograderError as error:
                answer = {"fault": str(error), "trace": None}
            except Exception as error:  # noqa: BLE001 (whatever it is, the parent has to know)
                answer = {"fault": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


def _open(order: Json, stack: ExitStack) -> Course:
    """Load the assignment; the worker, started when it is first needed, ends with ``stack``."""
    folder = Path(order["course"])
    assignment = load_assignment(folder, order["assignment"])
    configuration = CourseConfiguration(folder, order["directory"])
    source = configuration.source_folder(assignment.name)
    if not (source.is_dir() and source.samefile(assignment.source_dir)):
        raise CourseError(
            f"The source is taken from {assignment.source_dir}, but nbgrader has it in {source}."
        )
    way = choose(unsafe=order["unsafe"], hidden=[folder])
    judges = stack.enter_context(OneJudge(assignment, course_secret(folder), way))
    return Course(assignment, configuration, judges, way.sandboxed)


def _grade(course: Course, student: str) -> Entry:
    """Grade a submission anew and record it, as `autograder grade --force` does."""
    assignment = course.assignment
    folder = course.configuration.submitted_folder(student, assignment.name)
    with (
        grading_lock(assignment.course, wait_seconds=LOCK_SECONDS),
        Gradebook(assignment, course.configuration) as book,
    ):
        records = Records(assignment.course, assignment.name)
        grader = Grader(
            assignment, course.judges, lambda: book, records, sandboxed=course.sandboxed, force=True
        )
        [entry] = grader.grade({student: folder})
        return entry


def _answer(entry: Entry) -> Json:
    result = entry.result
    if not entry.recorded:
        return {"fault": result.reason, "trace": entry.trace}
    return {
        "status": str(result.status),
        "score": result.score,
        "max_score": result.max_score,
        "reason": result.reason,
        "notes": list(result.notes),
        "trace": entry.trace,
    }


def _lines(stream: RawIOBase) -> Iterator[Json]:
    """The requests, one after the other; none once there has been nothing to do for a while."""
    while select.select([stream], [], [], IDLE_SECONDS)[0]:
        line = stream.readline()
        if not line:
            return
        yield json.loads(line)


def _leave(number: int, frame: FrameType | None) -> None:
    """End in order: the worker and its folder go with us."""
    raise SystemExit(128 + number)


if __name__ == "__main__":
    main()
