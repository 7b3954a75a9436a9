"""Pictures that may stand in a page: data that really is a picture, and the lesson's own figures."""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from autograder.files import plain_files, read_plain_file

#: How the files of each kind begin. SVG, which can hold scripts, is taken from the course's source alone.
_SIGNATURES = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}
_SUFFIXES = {
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
}
MAX_PICTURE_BYTES = 4 * 2**20


def picture(kind: str, encoded: str) -> str | None:
    """A ``data:`` address of a picture given in base64, or None where it is none, or far too large."""
    signature = _SIGNATURES.get(kind)
    if signature is None or len(encoded) > MAX_PICTURE_BYTES * 2:
        return None
    try:
        data = base64.b64decode("".join(encoded.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
    if signature.match(data) is None or len(data) > MAX_PICTURE_BYTES:
        return None
    return _address(kind, data)


def lesson_figures(source_dir: Path) -> Mapping[str, str]:
    """The pictures of a source folder as ``data:`` addresses, by their names as the notebook writes them.

    Raises OSError where the folder cannot be read.
    """
    return dict(_figures(source_dir))


def _figures(source_dir: Path) -> Iterator[tuple[str, str]]:
    for path in plain_files(source_dir):
        kind = _SUFFIXES.get(path.suffix.lower())
        if kind is not None:
            yield (
                path.as_posix(),
                _address(kind, read_plain_file(source_dir / path, max_bytes=MAX_PICTURE_BYTES)),
            )


def _address(kind: str, data: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"
