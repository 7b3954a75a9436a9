"""Trying the checks of an exercise on candidates whose worth is known: right solutions and known mistakes.

All candidates of one round are asked the same: the same checks, run as they are for students, on the same
random numbers.
"""

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from autograder.checking.framework import Check, Kind
from autograder.checking.local import LocalStudent
from autograder.checking.margins import watched
from autograder.checking.remembering import remembering
from autograder.checking.runner import Outcome, run_check
from autograder.model import Verdict

#: Makes a candidate's functions, with a memory of their own.
MakeNamespace = Callable[[], Mapping[str, object]]


@dataclass(frozen=True)
class Trial:
    """How one check of one candidate ended.

    ``margin`` is the largest error of a number as a multiple of the error that is allowed, infinity where it
    is not an error of numbers that decided, and None where no numbers were compared with a tolerance.
    """

    check: Check
    outcome: Outcome
    margin: float | None
    cpu_seconds: float

    @property
    def passed(self) -> bool:
        """Whether the check let the candidate pass."""
        return self.outcome.verdict is Verdict.PASSED

    @property
    def killed(self) -> bool:
        """Whether the check found the candidate wrong; that it broke down itself is no finding."""
        return self.outcome.verdict not in (Verdict.PASSED, Verdict.JUDGE_ERROR)

    @property
    def costs_points(self) -> bool:
        """Whether the check found the candidate wrong and has a weight."""
        return self.killed and self.check.weight > 0


class Round:
    """The checks of one exercise with the random numbers of one seed; ``draw`` gives those of a check."""

    def __init__(
        self,
        checks: Iterable[Check],
        reference: ModuleType,
        draw: Callable[[Check], np.random.Generator],
        *,
        call_seconds: float,
    ):
        self._checks = tuple(checks)
        self._reference = remembering(reference)
        self._numbers = {check.name: _Replayed(draw(check)) for check in self._checks}
        self._call_seconds = call_seconds

    def all_of(self, make: MakeNamespace) -> list[Trial]:
        """Run all checks, in the order of grading."""
        return self._run(self._checks, make)

    def hidden_of(self, make: MakeNamespace) -> list[Trial]:
        """Run all but the visible checks, whose examples are the same on every seed."""
        return self._run([check for check in self._checks if check.kind is not Kind.VISIBLE], make)

    def until_killed(self, make: MakeNamespace, likely: Sequence[str] = ()) -> list[Trial]:
        """Run checks up to the first that costs points.

        Those with names in ``likely`` come first, in that order; the visible ones, whose examples never
        change, come last.
        """
        places = {name: place for place, name in enumerate(likely)}
        order = sorted(
            self._checks,
            key=lambda check: (check.kind is Kind.VISIBLE, places.get(check.name, len(places))),
        )
        return self._run(order, make, to_the_first_kill=True)

    def _run(
        self, checks: Sequence[Check], make: MakeNamespace, *, to_the_first_kill: bool = False
    ) -> list[Trial]:
        trials: list[Trial] = []
        shared = make()
        for check in checks:
            trials.append(self._try(check, make() if check.fresh else shared))
            if to_the_first_kill and trials[-1].costs_points:
                break
        return trials

    def _try(self, check: Check, namespace: Mapping[str, object]) -> Trial:
        student = LocalStudent(namespace, call_seconds=self._call_seconds)
        start = time.process_time()
        with watched() as margins:
            outcome = run_check(check, student, self._reference, self._numbers[check.name].again())
        return Trial(check, outcome, _margin(outcome, margins), time.process_time() - start)


class _Replayed:
    """A generator that gives the same numbers again and again."""

    def __init__(self, generator: np.random.Generator):
        self._generator = generator
        self._start = generator.bit_generator.state

    def again(self) -> np.random.Generator:
        self._generator.bit_generator.state = self._start
        return self._generator


def _margin(outcome: Outcome, margins: Sequence[float]) -> float | None:
    if outcome.verdict is Verdict.PASSED:
        return max(margins, default=None)
    by_numbers = bool(margins) and not margins[-1] <= 1
    return margins[-1] if by_numbers and not math.isnan(margins[-1]) else math.inf
