"""What a cell showed, as parts of a page: text, errors, and pictures that really are pictures.

HTML, SVG, JavaScript and Markdown are never shown; nearly every display has a plain text beside them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.reporting.feedback.harmless import as_displayed, one_line
from autograder.reporting.feedback.pictures import picture

MAX_TEXT = 20_000
MAX_PARTS = 100
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


@dataclass(frozen=True)
class Part:
    """One thing that a cell showed.

    ``kind`` is text, warning, error or picture; a picture has the ``data:`` ``address`` and its description
    in ``text``. ``left_out`` says how many characters more there were.
    """

    kind: str
    text: str
    address: str | None = None
    left_out: int = 0


def shown_outputs(outputs: Any, where: str) -> tuple[Part, ...]:
    """What a page shows of a cell's outputs; ``where`` names the cell in the descriptions of pictures."""
    if not isinstance(outputs, Sequence) or isinstance(outputs, str):
        return ()
    parts = [part for one in outputs[:MAX_PARTS] if isinstance(one, Mapping) for part in _parts(one, where)]
    if len(outputs) > MAX_PARTS:
        parts.append(Part("text", f"[{len(outputs) - MAX_PARTS} further outputs are not shown here]"))
    return tuple(parts)


def error_name(outputs: Any) -> str | None:
    """The name of the error with which a cell ended, or None."""
    for output in outputs if isinstance(outputs, list) else ():
        if isinstance(output, Mapping) and output.get("output_type") == "error":
            return one_line(_joined(output.get("ename")))[:60] or "an error"
    return None


def _parts(output: Mapping[str, Any], where: str) -> Iterator[Part]:
    match output.get("output_type"):
        case "stream":
            yield _text("warning" if output.get("name") == "stderr" else "text", _joined(output.get("text")))
        case "error":
            trace = output.get("traceback")
            lines = [_joined(line) for line in trace] if isinstance(trace, list) else []
            words = f"{_joined(output.get('ename'))}: {_joined(output.get('evalue'))}"
            yield _text("error", "\n".join(lines) or words)
        case "execute_result" | "display_data":
            data = output.get("data")
            yield from _display(data if isinstance(data, Mapping) else {}, where)


def _display(data: Mapping[str, Any], where: str) -> Iterator[Part]:
    for kind in _PICTURES:
        address = picture(kind, _joined(data.get(kind)))
        if address is not None:
            yield Part("picture", f"A picture made by {where}", address)
            return
    if "text/plain" in data:
        yield _text("text", _joined(data["text/plain"]))
    elif data:
        yield Part("text", "[an output that is neither text nor a picture is not shown here]")


def _text(kind: str, text: str) -> Part:
    shown = as_displayed(text).rstrip("\n")
    return Part(kind, shown[:MAX_TEXT], left_out=max(0, len(shown) - MAX_TEXT))


def _joined(value: Any) -> str:
    """A text of a notebook, which may be a list of lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""
