"""Certifies an assignment's checks: right solutions pass them, known mistakes do not, on many seeds.

The work is done by processes of their own, each a new program (``spawn``): nothing here forks. Each loads the
assignment for itself, and is given a few seeds at a time.
"""

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from autograder.assignments.catalog import Assignment
from autograder.errors import JudgeError
from autograder.reporting.certificate import Certificate
from autograder.usecases.certifying import Plan, Sitting, set_up, try_seeds
from autograder.usecases.ledger import Ledger
from autograder.usecases.one_thread import one_thread_each

#: On so many seeds everything is tried with every check, unless that is asked for on all.
COMPLETE_SEEDS = 10
#: On the other seeds, each right solution but the reference has its turn once in so many.
TURNS = 25
#: On so many seeds is tried what takes seconds for each.
SLOW_SEEDS = 2
#: So many seeds make a task of a process.
TASK_SEEDS = 5


def plan_of(seeds: int, *, complete: bool = False) -> Plan:
    """What is tried on so many seeds; if ``complete``, everything with every check on each of them."""
    slow = SLOW_SEEDS if seeds >= COMPLETE_SEEDS else 1
    return Plan(seeds, seeds if complete else min(seeds, COMPLETE_SEEDS), TURNS, slow)


def certify(
    assignment: Assignment,
    plan: Plan,
    *,
    processes: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Certificate:
    """Try all checks on all candidates; ``progress`` is told how many seeds of how many are done.

    Raises:
        CourseError: a mistake or a right solution cannot be loaded.
        JudgeError: a process was lost.
    """
    start = time.monotonic()
    ledger = Ledger(assignment, plan)
    done = 0
    for count, sittings in _tried(assignment, plan, processes):
        for sitting in sittings:
            ledger.enter(sitting)
        done += count
        progress(done, plan.seeds)
    return ledger.certificate(processes=processes, wall_seconds=time.monotonic() - start)


def _tried(assignment: Assignment, plan: Plan, processes: int) -> Iterator[tuple[int, list[Sitting]]]:
    """What the processes bring back, in whichever order: how many seeds, and all that was tried on them."""
    executor = ProcessPoolExecutor(
        processes,
        multiprocessing.get_context("spawn"),
        set_up,
        (assignment.course, assignment.name, plan),
    )
    with one_thread_each():
        try:
            waiting = {executor.submit(try_seeds, seeds): len(seeds) for seeds in _tasks(plan)}
            while waiting:
                finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield waiting.pop(future), _result(future)
        finally:
            executor.shutdown(cancel_futures=True)


def _result(future: Future[list[Sitting]]) -> list[Sitting]:
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise JudgeError(
            "A process that tried the checks was lost. Was it killed, or is there too little memory? "
            "Fewer processes need less: --jobs 1."
        ) from error


def _tasks(plan: Plan) -> Iterator[Sequence[int]]:
    """The seeds in portions; what takes longest comes first and alone."""
    first = min(plan.seeds, max(plan.complete, plan.slow) if plan.complete < plan.seeds else plan.slow)
    yield from ([seed] for seed in range(first))
    yield from (
        range(seed, min(seed + TASK_SEEDS, plan.seeds)) for seed in range(first, plan.seeds, TASK_SEEDS)
    )
