"""Catches what a cell shows, in the order in which it shows it, as nbformat outputs.

``Outputs`` is the one list to which text streams, results, displays and errors are added. Python's own
``sys.stdout`` and ``sys.stderr`` become ``TextStream``; what is written to file descriptors 1 and 2 behind
Python's back (by subprocesses or C code) goes to an anonymous file and is added when the cell ends.
"""

import base64
import io
import os
import sys
from collections.abc import Mapping
from typing import Any

CUT = "\n[output cut here: the notebook wrote more than is kept]\n"


class Outputs:
    """The outputs of the running cell; keeps at most ``limit`` bytes over the whole notebook."""

    def __init__(self, limit: int):
        self._left = limit
        self._clear_pending = False
        self.items: list[dict[str, Any]] = []
        self._display_ids: list[str | None] = []

    def start_cell(self) -> None:
        """Forget the last cell's outputs."""
        self.items = []
        self._display_ids = []
        self._clear_pending = False

    def clear(self, wait: bool) -> None:
        """What ``clear_output`` does: at once, or when the next output comes."""
        if wait:
            self._clear_pending = True
        else:
            self.start_cell()

    def text(self, name: str, text: str) -> None:
        """Text on stdout or stderr; pieces that follow each other become one output."""
        if not text or not self._room(len(text)):
            return
        if self.items and self.items[-1]["output_type"] == "stream" and self.items[-1]["name"] == name:
            self.items[-1]["text"] += text
        else:
            self._add({"output_type": "stream", "name": name, "text": text})

    def display(
        self, kind: str, data: Mapping[str, Any], display_id: str | None = None, count: int | None = None
    ) -> None:
        """A ``display_data`` or an ``execute_result``."""
        bundle = {mime: _jsonable(value) for mime, value in data.items()}
        if not self._room(sum(len(str(value)) for value in bundle.values())):
            return
        output: dict[str, Any] = {"output_type": kind, "data": bundle, "metadata": {}}
        if kind == "execute_result":
            output["execution_count"] = count
        self._add(output, display_id)

    def update(self, data: Mapping[str, Any], display_id: str | None) -> None:
        """Replace the display of that id, where this cell made one."""
        if display_id in self._display_ids and display_id is not None:
            place = self._display_ids.index(display_id)
            self.items[place]["data"] = {mime: _jsonable(value) for mime, value in data.items()}

    def error(self, name: str, value: str, traceback: list[str]) -> None:
        """An exception that ended the cell."""
        if self._room(len(name) + len(value) + sum(map(len, traceback))):
            self._add({"output_type": "error", "ename": name, "evalue": value, "traceback": traceback})

    def _room(self, size: int) -> bool:
        if self._left < 0:
            return False
        self._left -= size
        if self._left < 0:
            self._add({"output_type": "stream", "name": "stderr", "text": CUT})
            return False
        return True

    def _add(self, output: dict[str, Any], display_id: str | None = None) -> None:
        if self._clear_pending:
            self.start_cell()
        self.items.append(output)
        self._display_ids.append(display_id)


def _jsonable(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return value if isinstance(value, (str, int, float, bool, list, dict, type(None))) else str(value)


class _Bytes(io.RawIOBase):
    """The ``buffer`` of a text stream."""

    def __init__(self, stream: "TextStream"):
        super().__init__()
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        raw = bytes(data)
        self._stream.write(raw.decode("utf-8", "replace"))
        return len(raw)


class TextStream(io.TextIOBase):
    """``sys.stdout`` or ``sys.stderr`` of the notebook."""

    def __init__(self, name: str, outputs: Outputs, descriptor: int):
        super().__init__()
        self._name = name
        self._outputs = outputs
        self._descriptor = descriptor
        self.buffer = _Bytes(self)

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    @property
    def errors(self) -> str:  # type: ignore[override]
        return "replace"

    @property
    def name(self) -> str:
        return f"<{self._name}>"

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._outputs.text(self._name, text)
        return len(text)


class Descriptors:
    """File descriptors 1 and 2, caught in anonymous files."""

    def __init__(self, outputs: Outputs):
        self._outputs = outputs
        self._files: dict[str, int] = {}
        for name, descriptor in (("stdout", 1), ("stderr", 2)):
            self._files[name] = os.memfd_create(name)
            os.dup2(self._files[name], descriptor)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        sys.stdin = open(0, encoding="utf-8", closefd=False)
        sys.stdout = TextStream("stdout", outputs, 1)
        sys.stderr = TextStream("stderr", outputs, 2)

    def collect(self, limit: int) -> None:
        """Add what was written since the last time, at most ``limit`` bytes of each."""
        for name, descriptor in self._files.items():
            raw = os.pread(descriptor, limit, 0)
            if raw:
                self._outputs.text(name, raw.decode("utf-8", "replace"))
                os.ftruncate(descriptor, 0)
                os.lseek(descriptor, 0, os.SEEK_SET)


def silence() -> None:
    """Send everything to nowhere: in an examination nothing is shown."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")
