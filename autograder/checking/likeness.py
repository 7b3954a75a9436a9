"""Whether two students did the same in one check: by what was recorded of them (``recording``).

Two measures. ``same_answers`` wants equal answers, within the tolerances by which answers are compared with
right ones. ``same_behaviour`` is for contracts, where it does not matter which numbers a function returned
for arguments that it should have refused, or wrote into an argument that it should have left alone.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autograder.checking.compare import TOLERANCE, TOLERANCE_FLOAT32
from autograder.checking.framework import Check, Kind
from autograder.checking.recording import Asked, Event
from autograder.checking.runner import Outcome
from autograder.checking.student import Remote, StudentFailure, StudentRaised
from autograder.model import Verdict

#: Ends of a check that say something about what the student's code computes.
TELLING = frozenset({Verdict.FAILED, Verdict.MALFORMED_ANSWER, Verdict.RAISED})
#: By contract a wrong argument may be refused with either.
_REFUSALS = frozenset({"ValueError", "TypeError"})
_CALLS = frozenset({Asked.CALL, Asked.CALL_OBJECT, Asked.METHOD})


def is_telling(outcome: Outcome) -> bool:
    """Whether a check that failed can be explained at all: not by code that is missing or was broken off."""
    last = outcome.events[-1].outcome if outcome.events else None
    unwritten = isinstance(last, StudentRaised) and last.exception == "NotImplementedError"
    return outcome.verdict in TELLING and not unwritten


def alike(check: Check, one: Outcome, other: Outcome) -> bool:
    """Whether two students failed in a check in the same way."""
    if Verdict.PASSED in (one.verdict, other.verdict):
        return False
    same_words = one.verdict is other.verdict and (
        one.verdict is Verdict.RAISED or one.message == other.message
    )
    if same_words and same_answers(one.events, other.events):
        return True
    about_numbers = one.comparison is not None or one.verdict is Verdict.MALFORMED_ANSWER
    if check.kind is not Kind.CONTRACT or about_numbers:
        return False
    if all(event.asked in _CALLS for event in (*one.events, *other.events)):
        return same_refusals(one.events, other.events)
    return same_words and same_changes(one.events, other.events)


def same_answers(ours: Sequence[Event], theirs: Sequence[Event]) -> bool:
    """Whether each request brought the same answer; inside a dict, what both have and is no dict itself.

    What is looked at again must have changed in the same parts, too.
    """
    return len(ours) == len(theirs) and all(
        _same_request(a, b)
        and _same(a.outcome, b.outcome)
        and (a.before is None or _changed(a) == _changed(b))
        for a, b in zip(ours, theirs, strict=True)
    )


def same_refusals(ours: Sequence[Event], theirs: Sequence[Event]) -> bool:
    """Whether the same wrong arguments were answered; if none was, whether the same exceptions are wrong.

    What a dotted name called, such as ``np.random.default_rng``, is no code of theirs.
    """
    ours, theirs = ([one for one in events if "." not in str(one.name)] for events in (ours, theirs))
    if [one.name for one in ours] != [one.name for one in theirs]:
        return False
    answered = [[_ended(one) == "answered" for one in events] for events in (ours, theirs)]
    if any(answered[0]) or any(answered[1]):
        return answered[0] == answered[1]
    wrong = [{_ended(one) for one in events} - {"refused"} for events in (ours, theirs)]
    return bool(wrong[0]) and wrong[0] == wrong[1]


def same_changes(ours: Sequence[Event], theirs: Sequence[Event]) -> bool:
    """Whether calls ended in the same way, and the last look found the same parts changed, whatever into.

    That two answers were equally unequal to a third one would say nothing: the last request must be a look.
    """
    if not ours or len(ours) != len(theirs) or ours[-1].before is None or not _changed(ours[-1]):
        return False
    return all(
        _same_request(a, b) and _ended(a) == _ended(b) and _changed(a) == _changed(b)
        for a, b in zip(ours, theirs, strict=True)
    )


def changes(before: Any, now: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Which parts of a value became others: pairs of a path and what happened there.

    >>> sorted(changes({"a": np.zeros(2), "b": 1}, {"a": np.ones(2), "c": 1}))
    [('/a', 'values'), ('/b', 'removed'), ('/c', 'added')]
    """
    if isinstance(before, dict) and isinstance(now, dict):
        for key in before.keys() | now.keys():
            if key not in now or key not in before:
                yield f"{path}/{key}", "added" if key in now else "removed"
            else:
                yield from changes(before[key], now[key], f"{path}/{key}")
    elif isinstance(before, tuple | list) and type(before) is type(now) and len(before) == len(now):
        for number, (a, b) in enumerate(zip(before, now, strict=True)):
            yield from changes(a, b, f"{path}/{number}")
    elif not _same_kind(before, now):
        yield path, "kind"
    elif not _same(before, now, tolerance=0.0):
        yield path, "values"


def _same_request(one: Event, other: Event) -> bool:
    return (one.asked, one.name) == (other.asked, other.name)


def _ended(event: Event) -> str:
    """How a request ended, in a word."""
    if isinstance(event.outcome, StudentRaised):
        return "refused" if event.outcome.exception in _REFUSALS else event.outcome.exception
    if isinstance(event.outcome, StudentFailure | KeyError):
        return type(event.outcome).__name__
    return "answered"


def _changed(event: Event) -> frozenset[tuple[str, str]]:
    """What a look found changed since the last one."""
    return frozenset() if event.before is None else frozenset(changes(event.before, event.outcome))


def _same(one: Any, other: Any, tolerance: float | None = None) -> bool:
    if isinstance(one, StudentRaised) and isinstance(other, StudentRaised):
        names = {one.exception, other.exception}
        return len(names) == 1 or names <= _REFUSALS
    if isinstance(one, StudentFailure | KeyError):
        return type(one) is type(other)
    if isinstance(one, dict) and isinstance(other, dict):
        return all(_same_item(one[key], other[key], tolerance) for key in one.keys() & other.keys())
    if isinstance(one, tuple | list) and type(one) is type(other):
        return len(one) == len(other) and all(_same(a, b, tolerance) for a, b in zip(one, other, strict=True))
    if not _same_kind(one, other):
        return False
    if isinstance(one, np.ndarray | np.generic | int | float):
        return _same_numbers(np.asarray(one), np.asarray(other), tolerance)
    return isinstance(one, Remote) or bool(one == other)


def _same_item(one: Any, other: Any, tolerance: float | None) -> bool:
    """Items of a dict: what lies deeper is an affair of its owner."""
    nested = (dict, Remote, tuple, list)
    return isinstance(one, nested) or isinstance(other, nested) or _same(one, other, tolerance)


def _same_kind(one: Any, other: Any) -> bool:
    if isinstance(one, Remote) or isinstance(other, Remote):
        return isinstance(one, Remote) and isinstance(other, Remote) and _kind(one) == _kind(other)
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        same_type = one.dtype == other.dtype or one.dtype.kind + other.dtype.kind in ("ii", "uu")
        return bool(same_type and one.shape == other.shape)
    numbers = np.generic | int | float
    if isinstance(one, numbers) and isinstance(other, numbers):
        return isinstance(one, bool | np.bool_) == isinstance(other, bool | np.bool_)
    return type(one) is type(other)


def _kind(remote: Remote) -> str:
    """An object that is asked for keys serves as a dict."""
    return "dict" if remote.kind == "object" else remote.kind


def _same_numbers(one: np.ndarray, other: np.ndarray, tolerance: float | None) -> bool:
    """Equal but for rounding, with NaN and infinity at the same places."""
    if one.dtype.kind not in "fc":
        return bool(np.array_equal(one, other))
    if tolerance is None:
        tolerance = TOLERANCE
        if one.dtype == np.float32 or _of_float32(other):
            tolerance = TOLERANCE_FLOAT32
            if _of_float32(one) != _of_float32(other):
                return False
    with np.errstate(all="ignore"):
        scale = np.max(np.abs(other), initial=1.0, where=np.isfinite(other))
        close = (np.abs(one - other) <= tolerance * scale) | (one == other)
    return bool(np.all(close | (np.isnan(one) & np.isnan(other))))


def _of_float32(array: np.ndarray) -> bool:
    """Whether the numbers have passed through float32: none has more digits, and not all are whole."""
    if array.dtype == np.float32:
        return True
    if array.dtype != np.float64:
        return False
    with np.errstate(all="ignore"):
        narrow = array.astype(np.float32).astype(np.float64)
        return bool(np.array_equal(array, narrow, equal_nan=True) and np.any(array != np.round(array)))
