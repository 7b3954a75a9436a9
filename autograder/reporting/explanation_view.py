"""An explanation for a terminal: each failed check with its calls, inputs, answers and differences."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.constrain import Constrain
from rich.measure import Measurement
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from autograder.checking.recording import Omitted
from autograder.checking.retelling import Call, Difference, FromCall, NoAnswer, Unseen
from autograder.model import Status, Verdict
from autograder.reporting.explanation import ExplainedCheck, Explanation
from autograder.reporting.table import number, plain

#: Arrays with more entries are summarised, unless all is asked for.
SMALL = 60
RULE_WIDTH = 80

BANNER = "For the instructor alone: this shows hidden inputs and right answers."


def explanation_view(explanation: Explanation, *, full: bool = False) -> RenderableType:
    """The whole explanation; with ``full`` arrays of any size are shown whole.

    Rows of arrays are broken to fit the console. Of an exercise that is not written that alone is said.
    """
    parts: list[RenderableType] = []
    for exercise, same in groupby(explanation.checks, lambda check: check.exercise):
        checks = tuple(same)
        if len(checks) > 1 and all(one.unwritten and one.is_as_recorded for one in checks):
            parts.append(_unwritten(exercise, checks))
        else:
            parts += (_check(one, full) for one in checks)
    return Group(*_head(explanation), *parts, *_end(explanation))


def _head(explanation: Explanation) -> Iterator[RenderableType]:
    yield Text(BANNER, "bold yellow")
    yield Text(
        f"{plain(explanation.assignment)}, {plain(explanation.student)}: replayed with the inputs of variant "
        f"{explanation.variant}"
    )
    if explanation.remark is not None:
        yield Text(plain(explanation.remark), "yellow")
    if explanation.reason is not None:
        yield Text(f"{explanation.status}: {plain(explanation.reason)}", "yellow")
    for note in explanation.notes:
        yield Text(f"- {plain(note)}")
    if explanation.status is Status.MALFORMED:
        yield Text("Nothing was run, so there is nothing to replay.")
    elif not explanation.checks:
        yield Text("Nothing to explain: no check failed.")


def _end(explanation: Explanation) -> Iterator[RenderableType]:
    for exercise, check in explanation.differing:
        yield Text(
            f"Not as recorded: {plain(exercise)}, {plain(check)} ended differently this time.", "bold red"
        )


def _title(words: str) -> Iterator[RenderableType]:
    yield Text("")
    yield Constrain(Rule(Text(plain(words), "bold"), align="left", characters="─"), RULE_WIDTH)


def _unwritten(exercise: str, checks: Sequence[ExplainedCheck]) -> RenderableType:
    """All checks of an exercise of which there is no function yet, in one."""
    most = math.fsum(one.result.max_points for one in checks)
    verdict = Text.assemble(("not written", "bold red"), f"  0 of {number(most)} points")
    words = f"{checks[0].result.message} All {len(checks)} checks say so; --check NAME shows one of them."
    return Group(*_title(exercise), verdict, Text(plain(words)))


def _check(check: ExplainedCheck, full: bool) -> RenderableType:
    result = check.result
    earned = f"  {number(result.points)} of {number(result.max_points)} points"
    parts: list[RenderableType] = [
        *_title(f"{check.exercise}, {result.name}"),
        Text.assemble(_verdict(result.verdict), earned if result.max_points else ""),
        Text(plain(result.message)),
    ]
    if not check.is_as_recorded and check.recorded is not None:
        parts.append(Text(f"The record says: {_words(check.recorded.verdict)}.", "bold red"))
    if result.diagnosis is not None:
        parts.append(Text(plain(result.diagnosis.message), "italic"))
    if result.detail is not None and check.failing is None:
        parts.append(Text("\n".join(plain(line) for line in result.detail.splitlines()), "dim"))
    if check.helped:
        names = ", ".join(map(plain, check.helped))
        parts.append(Text(f"Judged with right functions in the place of the student's own: {names}."))
    return Group(*parts, *_calls(check.calls, full), *_failing(check, full))


def _calls(calls: Sequence[Call], full: bool) -> Iterator[RenderableType]:
    """The calls; looks in a row of which there is nothing to say are one line, unless all is asked for."""
    for quiet, several in groupby(calls, lambda one: not full and _is_quiet_look(one)):
        row = tuple(several)
        if quiet and len(row) > 1:
            title = f"Calls {row[0].number} to {row[-1].number}: "
            yield Text.assemble((title, "bold"), "attributes were set or looked up; nothing is wrong.")
        else:
            yield from (_call(call, full) for call in row)


def _is_quiet_look(call: Call) -> bool:
    fine = not isinstance(call.came, NoAnswer) if call.arguments else call.is_as_expected
    return call.is_look and fine and not call.differences and not call.remarks


def _call(call: Call, full: bool) -> RenderableType:
    names = "" if call.is_look else f"({', '.join(plain(name) for name in call.arguments)})"
    rows: list[RenderableType] = []
    for name, value in call.arguments.items():
        rows += _value(name, value, full, "cyan")
    if call.is_look and call.arguments:  # an attribute was set: nothing comes of that, unless it fails
        rows += _value("came", call.came, full, "red") if isinstance(call.came, NoAnswer) else ()
    elif call.is_as_expected and isinstance(call.expected, Unseen):
        rows.append(Text("An object came, as it should."))
    elif call.is_as_expected and not full:
        rows.append(Text("What came is right."))
    else:
        rows += _value("came", call.came, full, "red" if call.differences else "")
        rows += _value("expected", _as_far_as_seen(call.expected, call.came), full, "green")
    rows += (_summary(found) for found in call.differences)
    rows += (Text(plain(remark), "yellow") for remark in call.remarks)
    title = Text(f"Call {call.number}: {plain(call.function)}{names}", "bold")
    return Group(title, *map(_indented, rows))


def _failing(check: ExplainedCheck, full: bool) -> Iterator[RenderableType]:
    """The comparison that failed; its arrays only where no call has shown them."""
    found = check.failing
    if found is None:
        return
    yield Text.assemble(("What failed: ", "bold"), _summary(found))
    shown = any(one.came is found.came for call in check.calls for one in call.differences)
    if not shown:
        yield from map(_indented, _value("came", found.came, full, "red"))
        yield from map(_indented, _value("expected", found.expected, full, "green"))


def _as_far_as_seen(expected: Any, came: Any) -> Any:
    """The right answer without the parts into which the check did not look."""
    if isinstance(came, Unseen) and isinstance(expected, Mapping):
        return Unseen("dict")
    if isinstance(expected, tuple):
        fits = isinstance(came, tuple) and len(expected) == len(came)
        return tuple(map(_as_far_as_seen, expected, came if fits else [None] * len(expected)))
    if isinstance(expected, Mapping):
        seen = came if isinstance(came, Mapping) else {}
        return {
            key: _as_far_as_seen(one, seen.get(key, Unseen("dict") if isinstance(one, Mapping) else None))
            for key, one in expected.items()
        }
    return expected


def _summary(found: Difference) -> Text:
    """How many entries are wrong, by how much, and where first."""
    what = plain(found.what)
    if found.wrong is None:
        return Text(f"{what}: {_kind(found.came)} came, {_kind(found.expected)} was expected")
    if found.first is None or found.largest is None or found.allowed is None:
        return Text(f"{what}: equal, within what is allowed")
    where = found.first if not found.axes else zip(found.axes, found.first, strict=True)
    index = ", ".join(f"{one[0]} {one[1]}" if isinstance(one, tuple) else str(one) for one in where)
    return Text(
        f"{what}: {found.wrong} of {found.expected.size} entries wrong, the largest difference is "
        f"{found.largest:.3g} ({found.allowed:.1g} is allowed), the first is at [{index}]: "
        f"{found.came[found.first]!s} came, {found.expected[found.first]!s} was expected"
    )


def _value(name: str, value: Any, full: bool, style: str) -> Iterator[RenderableType]:
    """A value under its name; what it consists of is indented below."""
    if isinstance(value, tuple | list | Mapping) and not isinstance(value, str):
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value, start=1)
        kind = "dict" if isinstance(value, Mapping) else type(value).__name__
        yield Text.assemble((f"{plain(str(name))}: ", style), f"a {kind} of {len(value)}")
        for key, one in pairs:
            label = f'"{key}"' if isinstance(key, str) else str(key)
            yield from map(_indented, _value(label, one, full, style))
    elif isinstance(value, np.ndarray) and value.ndim > 0 and (full or value.size <= SMALL):
        yield Text.assemble((f"{plain(str(name))}: ", style), _kind(value))
        yield _indented(_Numbers(value, full))
    elif isinstance(value, np.ndarray) and value.ndim > 0:
        yield Text.assemble((f"{plain(str(name))}: ", style), _kind(value), _in_short(value))
    else:
        yield Text.assemble((f"{plain(str(name))}: ", style), plain(_kind(value)))


def _kind(value: Any) -> str:
    """What a value is, in few words; a single number is itself."""
    match value:
        case np.ndarray():
            return f"{value.dtype.name} {value.shape}"
        case np.generic():
            return f"{value!s} ({value.dtype.name})"
        case Omitted():
            return f"{value.dtype} {value.shape}, too large to keep"
        case FromCall():
            return f"what call {value.number} returned"
        case Unseen():
            article = "an" if value.kind[:1] in "aeiou" else "a"
            return f"{article} {value.kind.replace('_', ' ')} that the check did not look into"
        case NoAnswer():
            return value.words
        case str():
            return repr(value)
    return str(value)


def _in_short(value: np.ndarray) -> str:
    """The smallest and the largest number of an array, and its first ones."""
    first = ", ".join(f"{one:.3g}" if value.dtype.kind in "f" else str(one) for one in value.flat[:3])
    if value.dtype.kind not in "iuf":
        return f": {first} ..."
    with np.errstate(all="ignore"):
        return f" from {np.min(value):.4g} to {np.max(value):.4g}: {first} ..."


def _indented(row: RenderableType) -> Padding:
    return Padding(row, (0, 0, 0, 2), expand=False)


class _Numbers:
    """All numbers of an array, with ``exact`` to the last digit, in rows that fit the room there is."""

    def __init__(self, value: np.ndarray, exact: bool):
        self._value = value
        self._digits: dict[str, Any] = {"floatmode": "unique"} if exact else {"precision": 5}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        yield self._text(options.max_width)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self._text(options.max_width))

    def _text(self, width: int) -> Text:
        with np.printoptions(threshold=self._value.size + 1, linewidth=width, **self._digits):
            return Text(str(self._value))


def _verdict(verdict: Verdict) -> tuple[str, str]:
    style = {Verdict.PASSED: "green", Verdict.JUDGE_ERROR: "yellow"}.get(verdict, "red")
    return _words(verdict), f"bold {style}"


def _words(verdict: Verdict) -> str:
    return str(verdict).replace("_", " ")
