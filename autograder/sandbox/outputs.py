"""What student cells have shown, made harmless: untrusted text and pictures on their way into our files.

Only kinds that no page can take for code are kept: plain text, PNG and JPEG pictures that really are
pictures, and errors. HTML, SVG, JavaScript and Markdown are left out; nearly every display has a plain text
beside them.
"""

import base64
import binascii
import json
from collections.abc import Callable
from typing import Any

#: An nbformat output, as plain JSON data.
Output = dict[str, Any]

OUTPUTS_LIMIT = 2000
SIGNATURES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
UNREADABLE: Output = {
    "output_type": "stream",
    "name": "stderr",
    "text": "[the outputs of this cell could not be read and were left out]\n",
}
TOO_MANY: Output = {
    "output_type": "stream",
    "name": "stderr",
    "text": "[this cell has too many outputs: the rest was left out]\n",
}


def clean_outputs(body: bytes, shown: Callable[[str], str] = str) -> tuple[Output, ...]:
    """The outputs of one cell from what the worker sent, their texts as ``shown`` has them; never raises."""
    try:
        items = json.loads(body) if body else []
    except (ValueError, RecursionError):
        return (UNREADABLE,)
    if not isinstance(items, list):
        return (UNREADABLE,)
    cleaned = [_clean(item) for item in items[:OUTPUTS_LIMIT]]
    if len(items) > OUTPUTS_LIMIT:
        cleaned.append(TOO_MANY)
    return tuple(_as_shown(one, shown) for one in cleaned if one is not None)


def _as_shown(output: Output, shown: Callable[[str], str]) -> Output:
    """The output with each of its texts as ``shown`` has it."""
    if output["output_type"] == "stream":
        return {**output, "text": shown(output["text"])}
    if output["output_type"] == "error":
        lines = [shown(line) for line in output["traceback"]]
        return {**output, "evalue": shown(output["evalue"]), "traceback": lines}
    data = output["data"]
    return (
        {**output, "data": {**data, "text/plain": shown(data["text/plain"])}}
        if "text/plain" in data
        else output
    )


def _clean(item: Any) -> Output | None:
    match item:
        case {"output_type": "stream", "name": "stdout" | "stderr" as name, "text": str(text)}:
            return {"output_type": "stream", "name": name, "text": _text(text)}
        case {"output_type": "error", "ename": str(name), "evalue": str(value), "traceback": list(lines)}:
            trace = [_text(line) for line in lines if isinstance(line, str)]
            return {"output_type": "error", "ename": _text(name), "evalue": _text(value), "traceback": trace}
        case {"output_type": "execute_result", "data": dict(data), "execution_count": count}:
            number = count if type(count) is int and 0 <= count < 10**9 else None
            return _display("execute_result", data, execution_count=number)
        case {"output_type": "display_data", "data": dict(data)}:
            return _display("display_data", data)
    return None


def _display(kind: str, data: dict[Any, Any], **more: Any) -> Output | None:
    bundle = _bundle(data)
    return {"output_type": kind, "data": bundle, "metadata": {}} | more if bundle else None


def _bundle(data: dict[Any, Any]) -> dict[str, str]:
    kept = {}
    for mime, value in data.items():
        if mime == "text/plain" and isinstance(value, str):
            kept[mime] = _text(value)
        elif mime in SIGNATURES and isinstance(value, str) and _is_picture(mime, value):
            kept[mime] = value
    return kept


def _is_picture(mime: str, text: str) -> bool:
    try:
        return base64.b64decode(text.replace("\n", ""), validate=True).startswith(SIGNATURES[mime])
    except (binascii.Error, ValueError):
        return False


def _text(text: str) -> str:
    """Without lone surrogates, which no file could hold."""
    return text.encode("utf-8", "replace").decode("utf-8")
