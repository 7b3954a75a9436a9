"""Feedback as Markdown and as plain text, for e-mail and learning platforms: the page's facts, in short."""

import html
import re
import textwrap
from collections.abc import Iterator

from autograder.reporting.feedback.facts import (
    ALL_RIGHT,
    HELD_BACK,
    Feedback,
    Item,
    Line,
    Remark,
    points,
)
from autograder.reporting.feedback.harmless import one_line

WIDTH = 76

#: Signs that could begin markup (an underscore inside a word does not), and what makes a link of the words
#: before it, or of an address. Brackets stay bare: a backslash before them, like two of them in a row, begins
#: a formula on many platforms.
_SIGNS = re.compile(r"[&<>\\`*|~$#]|(?<![^\W_])_|_(?![^\W_])|(?<=\])[(\[:]|:(?=//)")
_ESCAPED = "`*|~$#_"
_CODE = re.compile(r"(`[^`\n]+`)")


def as_markdown(feedback: Feedback) -> str:
    """A short Markdown document, which shows nothing but its own words wherever it is read."""
    parts = [f"# {_md(_title(feedback))}", *(_md(line) for line in _summary(feedback))]
    if feedback.items:
        rows = [f"| {_md(item.name)} | {_of(item)} | {_md(item.state)} |" for item in feedback.items]
        parts.append("\n".join(["| Exercise | Points | State |", "|:-|-:|:-|", *rows]))
    if feedback.notes:
        parts.append("\n".join(f"- {_md(note)}" for note in feedback.notes))
    for item in feedback.items:
        if item.comment:
            # Their own Markdown stays, but no HTML.
            words = item.comment.strip().replace("&", "&amp;").replace("<", "&lt;")
            quoted = "\n".join(f"> {line}".rstrip() for line in words.splitlines())
            parts.append(f"Your instructor on {_md(item.name)}:\n\n{quoted}")
    for item in _with_checks(feedback):
        parts.append(f"## {_md(item.name)}: {_of(item)} points")
        parts += map(_md, _ended(item))
        parts += [
            "\n".join(map(_md_remark, some)) for some in (item.to_mend, item.asides, item.right) if some
        ]
        if item.held_back:
            parts += [HELD_BACK, "\n".join(map(_md_remark, item.held_back))]
    return "\n\n".join(parts) + "\n"


def as_text(feedback: Feedback) -> str:
    """The same as plain text, at most 76 characters wide but for words that are longer."""
    title = _title(feedback)
    lines = [title, "=" * min(len(title), WIDTH), ""]
    for line in _summary(feedback):
        lines += [*_wrapped(line), ""]
    wide = max((len(item.name) for item in feedback.items), default=0)
    lines += [f"  {item.name:<{wide}}  {_of(item):>11}  {item.state}" for item in feedback.items]
    if feedback.notes:
        lines += ["", *(line for note in feedback.notes for line in _wrapped(note, "- "))]
    for item in feedback.items:
        if item.comment:
            lines += ["", f"Your instructor on {item.name}:"]
            lines += [
                line for text in item.comment.strip().splitlines() for line in _wrapped(text, "  > ") or [""]
            ]
    for item in _with_checks(feedback):
        heading = f"{item.name}: {_of(item)} points"
        lines += [
            "",
            "",
            heading,
            "-" * len(heading),
            *(line for one in _ended(item) for line in _wrapped(one)),
        ]
        lines += [line for remark in _shown_first(item) for line in _text_remark(remark)]
        if item.held_back:
            lines += _wrapped(HELD_BACK)
            lines += [line for remark in item.held_back for line in _text_remark(remark)]
    return "\n".join(lines).rstrip() + "\n"


def _title(feedback: Feedback) -> str:
    several = feedback.notebook != feedback.assignment
    name = f"{feedback.assignment}, {feedback.notebook}" if several else feedback.assignment
    return one_line(f"{name}: feedback for {feedback.student}")


def _summary(feedback: Feedback) -> Iterator[str]:
    """The sentences on top."""
    if feedback.verdict:
        yield one_line(feedback.verdict)
    if feedback.score is None:
        return
    so_far = " so far" if feedback.waiting else ""
    yield f"{points(feedback.score)} of {points(feedback.max_score)} points{so_far}."
    if feedback.all_right:
        yield ALL_RIGHT
    if feedback.late_penalty:
        yield (
            f"{points(feedback.earned)} points for the work, less {points(feedback.late_penalty)} for "
            "handing it in late."
        )
    if feedback.waiting:
        names = ", ".join(item.name for item in feedback.waiting)
        yield f"Your instructor has still to look at: {names}."
    if feedback.start and feedback.handed_in:
        item, remark = feedback.start
        words = [f"Where to start: {item.name}.", one_line(remark.lines[0].message), *_ended(item)]
        yield " ".join(words)


def _shown_first(item: Item) -> tuple[Remark, ...]:
    return (*item.to_mend, *item.asides, *item.right)


def _ended(item: Item) -> list[str]:
    return [f"When the notebook was run, its cell ended with {item.error}."] if item.error else []


def _with_checks(feedback: Feedback) -> Iterator[Item]:
    return (item for item in feedback.items if item.checks and feedback.handed_in)


def _of(item: Item) -> str:
    grade = item.grade
    return f"{'–' if grade.score is None else points(grade.score)} / {points(grade.max_score)}"


def _said(remark: Remark, line: Line) -> tuple[str, str]:
    """The points and the verdict of a line, and what it says."""
    names = "" if remark.passed or not remark.counts else f" ({', '.join(line.names)})"
    share = f"{points(line.points)} / {points(line.max_points)}, " if line.max_points else ""
    return f"{share}{remark.words}", f"{one_line(line.message)}{names}"


def _advice(remark: Remark) -> list[str]:
    """What is behind failed checks, and what to think about."""
    lines = [] if remark.mistake is None else [one_line(remark.mistake)]
    return lines + [f"Hint: {one_line(hint)}" for hint in remark.hints]


def _md_remark(remark: Remark) -> str:
    said = [_said(remark, line) for line in remark.lines]
    lines = [f"- **{head}**: {_md(words)}" for head, words in said]
    return "\n".join([*lines, *(f"  - {_md(line)}" for line in _advice(remark))])


def _text_remark(remark: Remark) -> list[str]:
    sign = "+" if remark.passed else "-"
    said = [_said(remark, line) for line in remark.lines]
    lines = [line for head, words in said for line in _wrapped(f"{head}: {words}", f"{sign} ", "  ")]
    return lines + [line for advice in _advice(remark) for line in _wrapped(advice, "  ")]


def _wrapped(text: str, first: str = "", then: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=" " * len(first) if then is None else then,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _md(text: str) -> str:
    r"""Text that reads the same as Markdown; only spans in backticks stay code.

    >>> _md("In `a_b`: <b> 1*2 of split_heads")
    'In `a_b`: &lt;b&gt; 1\\*2 of split_heads'
    """
    return "".join(
        part if _CODE.fullmatch(part) else _SIGNS.sub(_neutral, part) for part in _CODE.split(text)
    )


def _neutral(sign: re.Match[str]) -> str:
    if sign[0] in _ESCAPED:
        return f"\\{sign[0]}"
    return html.escape(sign[0]) if sign[0] in "&<>" else f"&#{ord(sign[0])};"
