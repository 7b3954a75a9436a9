"""The given files of an assignment as they lie beside every notebook: read once, compiled once.

Python takes a compiled file from ``__pycache__`` as long as the source beside it is the one from which it was
compiled (PEP 552, checked by hash), so that a student who changes a given file gets what they wrote.
"""

import importlib.util
import marshal
from collections.abc import Iterable
from pathlib import Path

CHECKED_BY_HASH = 0b11


def given_files(source: Path, paths: Iterable[Path]) -> dict[str, bytes]:
    """The contents, by name, of files below ``source``, with the compiled form of every Python file."""
    files = {str(path): (source / path).read_bytes() for path in paths}
    return files | {
        compiled_name(Path(name)): code
        for name, data in files.items()
        if name.endswith(".py") and (code := compiled(name, data)) is not None
    }


def compiled_name(path: Path) -> str:
    """Where this Python looks for the compiled form of a file."""
    return importlib.util.cache_from_source(str(path))


def compiled(name: str, source: bytes) -> bytes | None:
    """A Python file as Python compiles it; None where it is none: who imports it will be told."""
    try:
        code = compile(source, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    head = importlib.util.MAGIC_NUMBER + CHECKED_BY_HASH.to_bytes(4, "little")
    return head + importlib.util.source_hash(source) + marshal.dumps(code)
