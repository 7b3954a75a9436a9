"""Tells what happened in a check, from its record: for the instructor alone, since it shows hidden inputs.

Every call is told with its arguments, what came, and what the reference answers to the same call. Where a
student's function got what another one had returned, the reference gets what its own had returned.
"""

import copy
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from autograder.checking.compare import TOLERANCE, TOLERANCE_FLOAT32, unchanged
from autograder.checking.framework import Comparison
from autograder.checking.local import look_up
from autograder.checking.recording import Asked, Event, RecordedRemote, RecordedSent
from autograder.checking.student import StudentFailure, StudentRaised

#: What is told as a step of its own; what else was asked is told with the call that it belongs to.
_STEPS = frozenset({Asked.CALL, Asked.CALL_OBJECT, Asked.METHOD, Asked.ATTRIBUTE, Asked.SET_ATTRIBUTE})


@dataclass(frozen=True)
class FromCall:
    """An argument that is what an earlier call returned."""

    number: int


@dataclass(frozen=True)
class Unseen:
    """An answer that stayed on the student's side, and into which the check did not look."""

    kind: str


@dataclass(frozen=True)
class NoAnswer:
    """In place of an answer: what happened instead, in words."""

    words: str


@dataclass(frozen=True)
class Difference:
    """Where an array that came differs from the right one.

    ``wrong`` of ``size`` entries differ by more than ``allowed``, the largest by ``largest``, the first at
    ``first``; all are None where the shapes or kinds differ already. ``axes`` are names, as far as known.
    """

    what: str
    came: Any
    expected: Any
    axes: tuple[str, ...] = ()
    wrong: int | None = None
    largest: float | None = None
    allowed: float | None = None
    first: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Call:
    """One call of a student's function or of an object that came before, or a look at a part of one.

    ``remarks`` tell what later looks at its objects found. ``is_look``: it is an attribute, not a call.
    """

    number: int
    function: str
    arguments: Mapping[str, Any]
    came: Any
    expected: Any
    differences: tuple[Difference, ...] = ()
    remarks: tuple[str, ...] = ()
    is_look: bool = False

    @property
    def is_as_expected(self) -> bool:
        """Whether an answer came that does not differ from the right one in anything that was seen of it."""
        return (
            not self.differences
            and not isinstance(self.came, NoAnswer)
            and _same_form(self.came, self.expected)
        )


def retell(events: Sequence[Event], reference: ModuleType) -> tuple[Call, ...]:
    """The calls of one check in their order; never fails because of what a student's code answered."""
    return _Teller(reference).tell(events)


def difference(comparison: Comparison) -> Difference:
    """What a failed comparison of a check found."""
    return _compare(comparison.what, comparison.got, comparison.want, comparison.axes)


@dataclass
class _Object:
    """An object of one call: what the reference has in its place, and what was seen in it."""

    number: int
    expected: Any = None
    seen: Any = None
    items: dict[str | int, Any] = field(default_factory=dict)


class _Teller:
    """Goes through the events once, side by side with the reference."""

    def __init__(self, reference: ModuleType):
        self._reference = reference
        self._objects: dict[int, _Object] = {}
        self._names: dict[int, str] = {}
        self._remarks: dict[int, list[str]] = {}

    def tell(self, events: Sequence[Event]) -> tuple[Call, ...]:
        calls: list[tuple[Event, Any]] = []
        for event in events:
            if event.asked in _STEPS:
                answer = self._answer_of_reference(event)
                calls.append((event, _told(answer)))
                self._remember(event, answer, len(calls))
            else:
                self._look(event)
        return tuple(
            self._call(number, event, expected) for number, (event, expected) in enumerate(calls, start=1)
        )

    def _call(self, number: int, event: Event, expected: Any) -> Call:
        came = self._shown(event.outcome, number)
        return Call(
            number=number,
            function=self._words(event),
            arguments={name: self._shown(value, number) for name, value in self._arguments(event)},
            came=came,
            expected=expected,
            differences=tuple(_differences(came, expected)),
            remarks=tuple(self._remarks.get(number, ())),
            is_look=event.asked in (Asked.ATTRIBUTE, Asked.SET_ATTRIBUTE),
        )

    def _words(self, event: Event) -> str:
        """What was called or looked at."""
        if event.on is None:
            return str(event.name)
        found = self._objects.get(event.on)
        owner = f"({event.maker})" if found is None else f"(what call {found.number} returned)"
        return owner if event.asked is Asked.CALL_OBJECT else f"{owner}.{event.name}"

    def _arguments(self, event: Event) -> Iterator[tuple[str, Any]]:
        """The arguments by the names that the reference gives them."""
        names = ["set to"] if event.asked is Asked.SET_ATTRIBUTE else self._parameters(event)
        for index, value in enumerate(event.args):
            yield names[index] if index < len(names) else f"argument {index + 1}", value
        yield from event.kwargs.items()

    def _parameters(self, event: Event) -> list[str]:
        """The names of the parameters, as far as the reference has them."""
        try:
            return list(inspect.signature(self._target(event)).parameters)
        except (LookupError, AttributeError, TypeError, ValueError):  # nothing there, or it tells nothing
            return []

    def _target(self, event: Event) -> Any:
        """What the reference has in the place of what was called or asked for.

        Raises LookupError where it has no such object, AttributeError where that has no such part.
        """
        if event.on is None:
            return look_up(self._reference, str(event.name))
        found = self._objects.get(event.on)
        if found is None or isinstance(found.expected, NoAnswer):
            raise LookupError(event.on)
        return (
            found.expected if event.asked is Asked.CALL_OBJECT else look_up(found.expected, str(event.name))
        )

    def _answer_of_reference(self, event: Event) -> Any:
        try:
            args = [self._right(value) for value in event.args]
            kwargs = {name: self._right(value) for name, value in event.kwargs.items()}
            target = self._target(event)
        except LookupError:
            return NoAnswer("not known, since it depends on an answer that never came")
        except AttributeError:
            return NoAnswer("not known: the reference has no such function")
        if event.asked is Asked.ATTRIBUTE:
            return target
        if event.asked is Asked.SET_ATTRIBUTE:
            return self._set(event, *args)
        if not callable(target):
            return NoAnswer("not known: the reference has no such function")
        try:
            return target(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 (arguments that must be refused are part of many checks)
            return NoAnswer(f"raises {type(error).__name__}: {error}")

    def _set(self, event: Event, value: Any) -> None:
        """Set the attribute of the reference's object; that it is there has been seen."""
        owner, _, last = str(event.name).rpartition(".")
        setattr(look_up(self._objects[event.on or 0].expected, owner), last, value)

    def _right(self, value: Any) -> Any:
        """An argument as the reference gets it; raises LookupError where it has nothing in its place."""
        if isinstance(value, RecordedSent):
            return copy.deepcopy(value.value)
        if isinstance(value, RecordedRemote):
            found = self._objects.get(value.key)
            if found is None or isinstance(found.expected, NoAnswer):
                raise LookupError(value.key)
            return found.expected
        if isinstance(value, tuple | list):
            return type(value)(self._right(one) for one in value)
        if isinstance(value, dict):
            return {key: self._right(one) for key, one in value.items()}
        return copy.deepcopy(value)

    def _remember(self, event: Event, expected: Any, number: int) -> None:
        """Note which objects this call returned, and which arguments are looked at later."""
        if event.of is not None:
            self._names[event.of] = "the answer"
            self._objects.setdefault(event.of, _Object(number))
        for name, value in self._arguments(event):
            if isinstance(value, RecordedSent):
                self._names.setdefault(value.key, f"the argument {name}")
                self._objects.setdefault(value.key, _Object(number))
        for came, right in _side_by_side(event.outcome, expected):
            if isinstance(came, RecordedRemote):
                self._objects.setdefault(came.key, _Object(number, right))

    def _look(self, event: Event) -> None:
        """Note what a look at an object found."""
        found = self._objects.get(event.of or 0)
        if found is None or isinstance(event.outcome, StudentFailure):
            return
        if event.asked is Asked.ITEM and event.name is not None:
            missing = isinstance(event.outcome, KeyError)
            found.items[event.name] = NoAnswer("missing") if missing else event.outcome
            if isinstance(event.outcome, RecordedRemote):
                right = _item(found.expected, event.name)
                self._objects.setdefault(event.outcome.key, _Object(found.number, right))
        elif event.asked is Asked.FETCH and found.seen is None:
            found.seen = event.outcome
        name = self._names.get(event.of or 0, "what it returned")
        if event.before is not None and not unchanged(event.before, event.outcome):
            self._remarks.setdefault(found.number, []).append(f"Looked at later, {name} had changed.")

    def _shown(self, value: Any, number: int) -> Any:
        """A value as it is told: what stayed remote is told by what was seen of it."""
        if isinstance(value, RecordedSent):
            return value.value
        if isinstance(value, RecordedRemote):
            return self._shown_remote(value, number)
        if isinstance(value, StudentFailure):
            return NoAnswer(_failure(value))
        if isinstance(value, KeyError):
            return NoAnswer("missing")
        if isinstance(value, tuple | list):
            return type(value)(self._shown(one, number) for one in value)
        if isinstance(value, dict):
            return {key: self._shown(one, number) for key, one in value.items()}
        return value

    def _shown_remote(self, value: RecordedRemote, number: int) -> Any:
        found = self._objects.get(value.key)
        if found is not None and found.number < number:
            return FromCall(found.number)
        if found is not None and found.seen is not None:
            return self._shown(found.seen, number)
        if found is not None and found.items:
            return self._shown(found.items, number)
        return Unseen(value.kind)


def _told(answer: Any) -> Any:
    """An answer of the reference's as it is now: a copy of its arrays, objects as what nobody looks into."""
    if isinstance(answer, np.ndarray):
        return answer.copy()
    if isinstance(answer, tuple | list):
        return (tuple if isinstance(answer, tuple) else list)(map(_told, answer))
    if isinstance(answer, dict):
        return {key: _told(one) for key, one in answer.items()}
    plain = answer is None or isinstance(answer, bool | int | float | str | np.generic | NoAnswer)
    return answer if plain else Unseen("object")


def _item(owner: Any, key: str | int) -> Any:
    """What the reference's object holds under a key."""
    try:
        return owner[key]
    except (LookupError, TypeError):
        return NoAnswer("missing")


def _side_by_side(came: Any, expected: Any) -> Iterator[tuple[Any, Any]]:
    """The parts of an answer with the reference's parts in the same places."""
    if isinstance(came, tuple) and isinstance(expected, tuple) and len(came) == len(expected):
        for one, other in zip(came, expected, strict=True):
            yield from _side_by_side(one, other)
    else:
        yield came, expected


def _same_form(came: Any, expected: Any) -> bool:
    """Whether two answers consist of the same kinds of parts; arrays are compared elsewhere."""
    if isinstance(expected, tuple):
        return isinstance(came, tuple) and len(came) == len(expected) and all(map(_same_form, came, expected))
    if isinstance(expected, Mapping) or (isinstance(expected, list) and not isinstance(came, list)):
        return isinstance(came, Mapping | Unseen | FromCall)
    if isinstance(expected, np.ndarray) or isinstance(came, np.ndarray):
        return isinstance(came, np.ndarray) and isinstance(expected, np.ndarray)
    if isinstance(expected, Unseen):
        return isinstance(came, Unseen | FromCall)
    return not isinstance(expected, NoAnswer) and bool(came == expected)


def _differences(came: Any, expected: Any, what: str = "") -> Iterator[Difference]:
    """What differs in the arrays of two answers of the same form."""
    if isinstance(came, tuple) and isinstance(expected, tuple) and len(came) == len(expected):
        for index, (one, other) in enumerate(zip(came, expected, strict=True), start=1):
            yield from _differences(one, other, f"{what}result {index}")
    elif isinstance(came, dict) and isinstance(expected, dict):
        for key, right in expected.items():
            # A dict within a dict, such as what attention keeps, is the student's own affair.
            if key in came and not isinstance(right, dict):
                yield from _differences(came[key], right, f'{what}["{key}"]')
    elif isinstance(expected, np.ndarray):
        found = _compare(what or "the answer", came, expected, ())
        if found.wrong != 0:
            yield found


def _compare(what: str, came: Any, expected: np.ndarray, axes: tuple[str, ...]) -> Difference:
    plain = isinstance(came, np.ndarray) and came.dtype.kind in "iuf" and expected.dtype.kind in "iuf"
    if not plain or came.shape != expected.shape:
        return Difference(what, came, expected, axes)
    right = expected.astype(np.float64)
    tolerance = TOLERANCE_FLOAT32 if expected.dtype == np.float32 else TOLERANCE
    allowed = tolerance * max(1.0, float(np.max(np.abs(right), initial=0.0)))
    with np.errstate(all="ignore"):
        gap = np.abs(came.astype(np.float64) - right)
    wrong = ~(gap <= allowed)
    count = int(np.count_nonzero(wrong))
    first = tuple(int(i) for i in np.argwhere(wrong)[0]) if count else None
    return Difference(what, came, expected, axes, count, float(np.max(gap, initial=0.0)), allowed, first)


def _failure(failure: StudentFailure) -> str:
    if isinstance(failure, StudentRaised):
        place = "" if failure.line is None else f" in line {failure.line} of its cell"
        return f"raised {failure.exception}{place}"
    return str(failure.verdict).replace("_", " ")
