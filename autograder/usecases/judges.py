"""The judges of a class: one in this process, or several in processes of their own, one for each core.

Each has its own warm worker. They are programs executed anew (never forks of this process), trusted as this
one is: what comes back is a ``Graded``. A judge's process that is asked to end, or whose grader is killed,
closes its worker first. One that ends by itself costs nobody a grade: its submission is judged once more, by
itself alone, and only if that fails, too, is it a fault of ours.
"""

import concurrent.futures
import functools
import multiprocessing
import multiprocessing.util
import os
import signal
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Protocol, Self

from autograder.assignments.catalog import Assignment, load_assignment
from autograder.errors import JudgeError
from autograder.sandbox.launcher import Launch
from autograder.sandbox.worker import kernel
from autograder.usecases.garbage import rarely_search_for_garbage
from autograder.usecases.judging import Judge
from autograder.usecases.one_thread import one_thread_each
from autograder.usecases.submissions import Graded, grade_folder

#: Grades what was handed in; raises what ``grade_folder`` raises.
Task = Callable[[], Graded]


class Judges(Protocol):
    """Who judges a class; a context manager that sends them home."""

    #: How many submissions to hand in ahead, for nobody to wait.
    ahead: int

    def submit(self, student: str, folder: Path) -> Task:
        """Hand a submission in; call what is returned for the result, in the order of submission."""


class OneJudge(AbstractContextManager["OneJudge"]):
    """Judges in this process, when a result is asked for."""

    ahead = 0

    def __init__(self, assignment: Assignment, secret: bytes, launch: Launch):
        self._assignment = assignment
        self._judge = Judge(assignment, secret, launch)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._judge.__exit__(kind, error, trace)

    def submit(self, student: str, folder: Path) -> Task:
        """Nothing is done ahead."""
        return lambda: grade_folder(self._assignment, self._judge, student, folder)


class ManyJudges:
    """Judges in ``jobs`` processes of their own, each started when there is work for it."""

    def __init__(self, assignment: Assignment, secret: bytes, launch: Launch, jobs: int):
        self.ahead = 3 * jobs  # one slow submission must not leave the others idle
        self._appointed = (assignment.course, assignment.name, secret, launch)
        self._jobs = jobs
        self._executor = self._appoint(jobs)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:  # nobody waits for what is still being judged
            for process in multiprocessing.active_children():
                process.terminate()
        self._executor.shutdown(cancel_futures=True)

    def submit(self, student: str, folder: Path) -> Task:
        """Judged as soon as a judge is free."""
        with one_thread_each():  # a judge is started when there is work for it
            try:
                future = self._executor.submit(_grade, student, folder)
            except BrokenProcessPool:
                self._executor.shutdown()
                self._executor = self._appoint(self._jobs)
                future = self._executor.submit(_grade, student, folder)
        return functools.partial(self._result, future, student, folder)

    def _result(self, future: "concurrent.futures.Future[Graded]", student: str, folder: Path) -> Graded:
        """A judge who ends takes all the others along, and whatever they were judging."""
        try:
            return future.result()
        except BrokenProcessPool:
            with one_thread_each(), self._appoint(1) as alone:
                try:
                    return alone.submit(_grade, student, folder).result()
                except BrokenProcessPool as error:
                    raise JudgeError("The process that judges has ended by itself, twice.") from error

    def _appoint(self, jobs: int) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(jobs, context, initializer=_begin, initargs=self._appointed)


def judges_for(
    assignment: Assignment, secret: bytes, launch: Launch, jobs: int
) -> AbstractContextManager[Judges]:
    """That many judges of an assignment."""
    if jobs == 1:
        return OneJudge(assignment, secret, launch)
    return ManyJudges(assignment, secret, launch, jobs)


@dataclass
class _Office:
    """What one judge's process holds; opened with its first work, so that what fails then is told."""

    course: Path
    name: str
    secret: bytes
    launch: Launch

    @functools.cached_property
    def assignment(self) -> Assignment:
        return load_assignment(self.course, self.name)

    @functools.cached_property
    def judge(self) -> Judge:
        judge = Judge(self.assignment, self.secret, self.launch)
        rarely_search_for_garbage()
        return judge

    def close(self) -> None:
        """End its worker, if there is one."""
        if "judge" in vars(self):
            self.judge.dismiss()


#: This process's own, if it is a judge's.
_offices: list[_Office] = []


def _begin(course: Path, name: str, secret: bytes, launch: Launch) -> None:
    """Make this process a judge's. It ends with the grader's, however that ends."""
    _stay_on_one_core()
    office = _Office(course, name, secret, launch)
    _offices.append(office)
    multiprocessing.util.Finalize(None, office.close, exitpriority=1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the grader's affair
    signal.signal(signal.SIGTERM, _end)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGTERM)
    parent = multiprocessing.parent_process()
    if parent is None or not parent.is_alive():
        os._exit(1)


def _stay_on_one_core() -> None:
    """Keep this process, and the worker that it starts, on one core: while one is at work the other waits.

    To wake somebody on another core, which has gone to sleep, takes longer than most answers.
    """
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        number = int(multiprocessing.current_process().name.rpartition("-")[2])  # SpawnProcess-1, -2, ...
        os.sched_setaffinity(0, {cores[number % len(cores)]})


def _grade(student: str, folder: Path) -> Graded:
    [office] = _offices
    return grade_folder(office.assignment, office.judge, student, folder)


def _end(number: int, frame: Any) -> NoReturn:
    """End at once, but leave nothing behind."""
    signal.signal(number, signal.SIG_IGN)
    try:
        for office in _offices:
            office.close()
    finally:
        os._exit(1)
