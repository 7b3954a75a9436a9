"""Catches what a cell shows, in the order in which it shows it, as nbformat outputs.

``Outputs`` is the one list to which text streams, results, displays and errors are added. Python's own
``sys.stdout`` and ``sys.stderr`` become ``TextStream``; what is written to file descriptors 1 and 2 behind
Python's back (by subprocesses or C code) goes to an anonymous file and is added when the cell ends.
"""

import base64
import contextlib
import io
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CUT = "\n[output cut here: the notebook wrote more than is kept]\n"
#: What the judge keeps of a display; everything else is left out here already.
KINDS = frozenset(["text/plain", "image/png", "image/jpeg"])
#: What an output weighs besides its text.
OVERHEAD_BYTES = 200
#: An error's message and each entry of its traceback are cut here.
ERROR_CHARACTERS = 20_000


@dataclass
class _Entry:
    """One output; the text of a stream is gathered apart, as many small pieces may follow each other."""

    output: dict[str, Any]
    size: int
    display_id: str | None = None
    text: io.StringIO = field(default_factory=io.StringIO)

    def continues(self, name: str) -> bool:
        return bool(self.output["output_type"] == "stream" and self.output["name"] == name)

    def finished(self) -> dict[str, Any]:
        if self.output["output_type"] == "stream":
            return self.output | {"text": self.text.getvalue()}
        return self.output


class Outputs:
    """The outputs of the running cell; keeps at most ``limit`` bytes over the whole notebook."""

    def __init__(self, limit: int):
        self._left = limit
        self._entries: list[_Entry] = []
        self._clear_pending = False
        self._cut = False

    def collect(self) -> bytes:
        """The cell's outputs as JSON; the next cell starts with none."""
        outputs = [entry.finished() for entry in self._entries]
        self._entries = []
        self._clear_pending = False
        return json.dumps(outputs, ensure_ascii=False).encode("utf-8", "replace")

    def clear(self, wait: bool) -> None:
        """What ``clear_output`` does: at once, or when the next output comes."""
        self._clear_pending = wait
        if not wait:
            self._left += sum(entry.size for entry in self._entries)
            self._entries = []
            self._cut = False

    def text(self, name: str, text: str) -> None:
        """Text on stdout or stderr; pieces that follow each other become one output."""
        self._clear_if_pending()
        room = self._left - OVERHEAD_BYTES
        kept = text if _size(text) <= room else _shortened(text, room)
        if kept:
            self._stream(name, kept)
        if len(kept) < len(text):
            self._note_cut()

    def display(
        self, kind: str, data: Mapping[str, Any], display_id: str | None = None, count: int | None = None
    ) -> None:
        """A ``display_data`` or an ``execute_result``."""
        bundle = _bundle(data)
        output: dict[str, Any] = {"output_type": kind, "data": bundle, "metadata": {}}
        if kind == "execute_result":
            output["execution_count"] = count
        self._add(_Entry(output, _bundle_size(bundle), display_id))

    def update(self, data: Mapping[str, Any], display_id: str | None) -> None:
        """Replace the displays of that id, where this cell made some."""
        bundle = _bundle(data)
        for entry in self._entries:
            if display_id is not None and entry.display_id == display_id:
                larger = _bundle_size(bundle) - entry.size
                if larger > self._left:
                    self._note_cut()
                    return
                self._left -= larger
                entry.size += larger
                entry.output["data"] = bundle

    def error(self, name: str, value: str, traceback: list[str]) -> None:
        """An exception that ended the cell."""
        name, value, *lines = [_ellipsis(text) for text in (name, value, *traceback)]
        size = OVERHEAD_BYTES + _size(name) + _size(value) + sum(_size(line) + 10 for line in lines)
        output = {"output_type": "error", "ename": name, "evalue": value, "traceback": lines}
        self._add(_Entry(output, size))

    def _stream(self, name: str, text: str) -> None:
        if not self._entries or not self._entries[-1].continues(name):
            self._add(_Entry({"output_type": "stream", "name": name}, OVERHEAD_BYTES))
        entry = self._entries[-1]
        entry.text.write(text)
        entry.size += _size(text)
        self._left -= _size(text)

    def _add(self, entry: _Entry) -> None:
        self._clear_if_pending()
        if entry.size > self._left:
            self._note_cut()
        else:
            self._left -= entry.size
            self._entries.append(entry)

    def _note_cut(self) -> None:
        if not self._cut:
            self._cut = True
            note = _Entry({"output_type": "stream", "name": "stderr"}, 0)
            note.text.write(CUT)
            self._entries.append(note)

    def _clear_if_pending(self) -> None:
        if self._clear_pending:
            self.clear(wait=False)


def _bundle(data: Mapping[str, Any]) -> dict[str, str]:
    """Texts and pictures; a picture's bytes as base64."""
    bundle = {}
    for mime, value in data.items():
        if mime in KINDS and isinstance(value, bytes):
            bundle[mime] = base64.b64encode(value).decode("ascii")
        elif mime in KINDS and isinstance(value, str):
            bundle[mime] = value
    return bundle


def _bundle_size(bundle: Mapping[str, str]) -> int:
    return OVERHEAD_BYTES + sum(_size(value) for value in bundle.values())


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _shortened(text: str, size: int) -> str:
    """What of the text fits into so many bytes."""
    room = max(size, 0)
    return text[:room].encode("utf-8", "replace")[:room].decode("utf-8", "ignore")


def _ellipsis(text: str) -> str:
    return text if len(text) <= ERROR_CHARACTERS else text[:ERROR_CHARACTERS] + " ..."


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
        """As everywhere."""
        return "utf-8"

    @property
    def errors(self) -> str:  # type: ignore[override]
        """What cannot be written becomes a question mark."""
        return "replace"

    @property
    def name(self) -> str:
        """As Python calls its own streams."""
        return f"<{self._name}>"

    def writable(self) -> bool:
        """Yes."""
        return True

    def fileno(self) -> int:
        """For subprocesses: what they write there is caught, too."""
        return self._descriptor

    def write(self, text: str) -> int:
        """Add to the cell's outputs."""
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
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 (for good)
        sys.stdout = TextStream("stdout", outputs, 1)
        sys.stderr = TextStream("stderr", outputs, 2)

    def collect(self, limit: int) -> None:
        """Add what was written since the last time, at most ``limit`` bytes of each."""
        for stream in (sys.__stdout__, sys.__stderr__):
            # Closed or replaced by the student's code, they hold nothing back.
            with contextlib.suppress(AttributeError, OSError, ValueError):
                stream.flush()  # type: ignore[union-attr]
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
    sys.stdout = sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (for good)
