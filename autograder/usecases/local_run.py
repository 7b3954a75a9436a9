"""A notebook as it would be judged, but in this very process: for code that is trusted anyway.

Tests, certificates and trials put known mistakes and right variants through all that a submission goes
through behind its sandbox: examination, follow-through, diagnosis.
"""

import inspect
from collections.abc import Callable, Collection, MutableMapping
from types import FunctionType, ModuleType

from autograder.checking.local import LocalStudent
from autograder.sandbox.examination import Budget
from autograder.sandbox.session import Ending

Namespace = MutableMapping[str, object]


class LocalRun:
    """Every fork gets a fresh namespace from ``make``; ``usecases.examining.Forks`` says what for."""

    ending = Ending.DONE

    def __init__(
        self, exercises: Collection[str], make: Callable[[], Namespace], *, call_seconds: float | None = None
    ):
        self.exercises = exercises
        self._make = make
        self._call_seconds = call_seconds

    def expect_worker(self) -> None:
        """It is this process."""

    def examine(self, exercise: str, budget: Budget) -> "LocalFork":
        """A student whose namespace nobody else has."""
        return LocalFork(self._make(), call_seconds=self._call_seconds)


class LocalFork(LocalStudent):
    """A student that lives as long as it is needed."""

    alive = True

    def close(self) -> None:
        """Nothing is left of it anyway."""


def notebook_of(right: ModuleType, source: str) -> dict[str, object]:
    """The functions and classes of a reference, in a namespace of their own, with ``source`` run behind them.

    As in a notebook, they find what ``source`` defines in the place of what was there.
    """
    namespace = dict(vars(right))
    for name, value in vars(right).items():
        if isinstance(value, FunctionType) and value.__module__ == right.__name__:
            namespace[name] = _moved(value, namespace)
        elif isinstance(value, type) and value.__module__ == right.__name__:
            _make_anew(value, namespace)
    exec(compile(source, "<cell>", "exec"), namespace)  # noqa: S102 (trusted: that is what this is for)
    return namespace


def _moved(function: FunctionType, namespace: dict[str, object]) -> FunctionType:
    """The same function, which looks names up in another namespace."""
    return FunctionType(
        function.__code__, namespace, function.__name__, function.__defaults__, function.__closure__
    )


def _make_anew(one: type, namespace: dict[str, object]) -> None:
    """Define a class in another namespace, with the methods that it got after its definition."""
    exec(compile(inspect.getsource(one), "<reference>", "exec"), namespace)  # noqa: S102 (trusted)
    made = namespace[one.__name__]
    for name, value in vars(one).items():
        if isinstance(value, FunctionType) and name not in vars(made):
            setattr(made, name, _moved(value, namespace))
