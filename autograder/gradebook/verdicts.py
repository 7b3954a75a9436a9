"""An exercise's verdicts as they stand under its test cell: a Markdown table, and the same as plain text.

All words are the kit's own; they are escaped all the same, so that no page takes them for markup.
"""

import re
from typing import Any

from autograder.model import CheckResult, ExerciseResult, Verdict

_CODE = re.compile(r"(`[^`|\n]+`)")
_MARKUP = re.compile(r"[\\`*_{}\[\]()!|~$<>&]")


def verdict_output(exercise: ExerciseResult) -> dict[str, Any]:
    """The table as one nbformat output."""
    return {
        "output_type": "display_data",
        "metadata": {},
        "data": {"text/markdown": _markdown_table(exercise), "text/plain": _plain_table(exercise)},
    }


def markdown(text: str) -> str:
    """Text that reads the same as Markdown; only spans in backticks stay code.

    >>> markdown("In `x_y`: <b> 1*2")
    'In `x_y`: &#60;b&#62; 1&#42;2'
    """
    parts = _CODE.split(" ".join(text.split()))
    return "".join(part if _CODE.fullmatch(part) else _MARKUP.sub(_entity, part) for part in parts)


def _entity(sign: re.Match[str]) -> str:
    """A sign as an entity; what starts a formula, in which scripts can hide, stands as code besides."""
    entity = f"&#{ord(sign[0])};"
    return f"<code>{entity}</code>" if sign[0] in "\\$" else entity


def points(value: float) -> str:
    """Points without needless zeros.

    >>> points(2.0), points(0.75), points(1 / 3)
    ('2', '0.75', '0.33')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")


def heading(exercise: ExerciseResult) -> str:
    """What the exercise earned, in words."""
    if exercise.score is None:
        return f"{exercise.name}: no score yet, of {points(exercise.max_score)} points"
    return f"{exercise.name}: {points(exercise.score)} of {points(exercise.max_score)} points"


def _markdown_table(exercise: ExerciseResult) -> str:
    rows = [
        f"| {_mark(check)} | {markdown(check.name)} | {_unbroken(_share(check))} | "
        f"{'<br>'.join(markdown(line) for line in _lines(check))} |"
        for check in exercise.checks
    ]
    head = [f"**{markdown(heading(exercise))}**", ""]
    return "\n".join([*head, "| | Check | Points | |", "|:-|:-|-:|:-|", *rows] if rows else head[:1])


def _plain_table(exercise: ExerciseResult) -> str:
    lines = [heading(exercise)]
    for check in exercise.checks:
        first, *more = _lines(check)
        lines.append(f"  {_mark(check)} {check.name} ({_share(check)}): {first}")
        lines += [f"      {line}" for line in more]
    return "\n".join(lines)


def _mark(check: CheckResult) -> str:
    if check.verdict is Verdict.PASSED:
        return "✓"
    return "?" if check.verdict is Verdict.JUDGE_ERROR else "✗"


def _share(check: CheckResult) -> str:
    """The points of a check; one that is worth none has a dash."""
    if check.max_points == 0.0:
        return "–"
    return f"{points(check.points)} / {points(check.max_points)}"


def _unbroken(text: str) -> str:
    """Text that a narrow page keeps on one line."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _lines(check: CheckResult) -> list[str]:
    """What is said about a check: its message, the known mistake behind it, the hints."""
    lines = [check.message]
    if check.diagnosis is not None:
        lines += [check.diagnosis.message, f"Hint: {check.diagnosis.hint}"]
    if check.hint is not None:
        lines.append(f"Hint: {check.hint}")
    return lines
