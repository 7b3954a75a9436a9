"""What contracts ask of any function: bad arguments refused, good ones left alone, answers repeatable."""

import builtins
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autograder.checking.compare import repeated, unchanged
from autograder.checking.framework import CheckFailure
from autograder.checking.student import BUILTIN_EXCEPTIONS, Answer, Student, StudentRaised


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
        if argument is not args[name] and not unchanged(args[name], argument.reread()):
            raise CheckFailure(
                f"{function} changes its argument {name}.",
                hint="Which of your lines writes into an array, or a dict, that was handed in?",
            )
    return answer


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


def expect_kept(before: Any, now: Any, function: str) -> None:
    """Require an answer to be what it was before later calls."""
    if not unchanged(before, now):
        raise CheckFailure(
            f"A later call of {function} changes an answer that it gave before.",
            hint="Do two calls share an array?",
        )
