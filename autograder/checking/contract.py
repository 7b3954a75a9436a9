"""What contracts ask of any function: bad arguments refused, good ones left alone, answers repeatable."""

import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from autograder.checking.compare import repeated, unchanged
from autograder.checking.framework import CheckFailure
from autograder.checking.student import BUILTIN_EXCEPTIONS, Answer, Remote, Student, StudentRaised

Case = TypeVar("Case")


def expect_refused(student: Student, function: str, args: Sequence[Any], words: str) -> None:
    """Require ValueError or TypeError of a call; ``words`` say what is wrong with the arguments."""
    wanted = f"Where {words}, {function} must raise ValueError or TypeError"
    try:
        student.call(function, *args)
    except StudentRaised as failure:
        if failure.exception == "NotImplementedError":
            raise
        name = failure.exception if failure.exception in BUILTIN_EXCEPTIONS else "Exception"
        if issubclass(getattr(builtins, name), ValueError | TypeError):
            return
        raise CheckFailure(f"{wanted}; it raised {name}.") from failure
    raise CheckFailure(f"{wanted}; it returned an answer.")


def expect_each_refused(
    student: Student, function: str, cases: Sequence[tuple[str, Sequence[Any]]], words: str
) -> None:
    """Like ``expect_refused`` for several calls: what is wrong in each, and its arguments.

    All are tried; what is said about the first that is not refused names the others, too. ``words`` come
    before what is wrong.
    """
    faults: list[tuple[str, CheckFailure]] = []
    for wrong, args in cases:
        try:
            expect_refused(student, function, args, f"{words} {wrong}")
        except CheckFailure as failure:
            faults.append((wrong, failure))
    if faults:
        (_, first), *others = faults
        if others:
            names = " or ".join(wrong for wrong, _ in others)
            first.rationale += f" Nor is it refused where {words} {names}."
        raise first


def expect_untouched(student: Student, function: str, args: Mapping[str, Any]) -> Answer:
    """Require a call, with arguments in this order, to leave arrays and dicts among them as they were."""
    sent = {
        name: student.send(value) if isinstance(value, np.ndarray | dict) else value
        for name, value in args.items()
    }
    answer = student.call(function, *sent.values())
    for name, argument in sent.items():
        if argument is not args[name]:
            _expect_argument_kept(function, name, args[name], argument.reread())
    return answer


def expect_untouched_with_cache(
    student: Student, function: str, cache: Remote, args: Mapping[str, Any]
) -> None:
    """Like ``expect_untouched`` for a call whose first argument is a cache of the student's own."""
    before = cache.fetch()
    sent = {name: student.send(value) for name, value in args.items()}
    student.call(function, cache, *sent.values())
    _expect_argument_kept(function, "cache", before, cache.fetch())
    for name, argument in sent.items():
        _expect_argument_kept(function, name, args[name], argument.reread())


def expect_repeatable(student: Student, function: str, args: Sequence[Any], others: Sequence[Any]) -> None:
    """Require the same answer from a second call, after one with other arguments; the first one must stay.

    Give ``others`` the same shapes, else an array that serves all calls of one shape is not noticed.
    """
    first = student.call(function, *args)
    student.call(function, *others)
    # Before the second call, which might write the same numbers into the same array.
    expect_kept(first.value, first.reread(), function)
    again = student.call(function, *args)
    if not repeated(first.value, again.value):
        raise CheckFailure(
            f"Called again with the same arguments, {function} gives another answer.",
            hint="Does something outlive the call, such as a global variable?",
        )


def expect_repeatable_with_caches(
    cache_of: Callable[[Case], Remote],
    backward: Callable[[Case, Remote], Answer],
    gradients_of: Callable[[Answer], Remote],
    cases: tuple[Case, Case],
    function: str,
) -> None:
    """Require the same gradients from a second backward pass with one cache, after one with another cache.

    ``cache_of`` makes the forward pass of a case, ``backward`` its backward pass by the student's
    ``function``; ``gradients_of`` finds the dict of gradients in the answer. The first answer must stay.
    """
    one, other = cases
    cache = cache_of(one)
    first = backward(one, cache)
    gradients = gradients_of(first)
    before = gradients.fetch()
    backward(other, cache_of(other))
    expect_kept((first.value, before), (first.reread(), gradients.fetch()), function)
    again = backward(one, cache)
    if not repeated((first.value, before), (again.value, gradients_of(again).fetch())):
        raise CheckFailure(
            f"Called again with the same cache and arguments, {function} gives other gradients.",
            hint="Does something outlive the call, such as a global variable or a changed cache?",
        )


def expect_kept(before: Any, now: Any, function: str) -> None:
    """Require an answer to be what it was before later calls."""
    if not unchanged(before, now):
        raise CheckFailure(
            f"A later call of {function} changes an answer that it gave before.",
            hint="Do two calls share an array?",
        )


def _expect_argument_kept(function: str, name: str, before: Any, now: Any) -> None:
    if not unchanged(before, now):
        raise CheckFailure(
            f"{function} changes its argument {name}.",
            hint="Which of your lines writes into an array, or a dict, that was handed in?",
        )
