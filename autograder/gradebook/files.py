"""Writing ``autograded/<student>/<assignment>/``: every file in one step, nothing but plain files.

The student's other files come first, the assignment's given files over them, the notebooks last; files of
an earlier grading that are no longer part of it are removed. As nbgrader leaves them, files are read-only.
"""

import json
import shutil
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from autograder.assignments.catalog import Assignment
from autograder.errors import CourseError
from autograder.files import plain_files, read_plain_file, write_atomically

MODE = 0o444
MAX_FILE_BYTES = 64 * 2**20
#: What nbgrader does not copy either.
_IGNORED = (".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", "*.ipynb")


def write_autograded(
    folder: Path, assignment: Assignment, notebooks: Mapping[str, dict[str, Any]], submitted: Path | None
) -> None:
    """Write a student's autograded notebooks, by name, and what was handed in beside them.

    Links, devices and FIFOs in ``submitted`` are passed over, and so is what cannot be read. Raises
    CourseError where the folder cannot be written.
    """
    ours = {Path(f"{name}.ipynb") for name in notebooks} | set(assignment.given_files)
    # In the source a given file may be a link to that of another assignment; here it is a plain file.
    given = {path: (assignment.source_dir / path).resolve() for path in assignment.given_files}
    sources = {} if submitted is None else {path: submitted / path for path in _other_files(submitted, ours)}
    sources |= given
    files = {path: data for path, source in sources.items() if (data := _read(source)) is not None}
    for name, notebook in notebooks.items():
        text = json.dumps(notebook, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
        files[Path(f"{name}.ipynb")] = text.encode()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, data in files.items():
            # What stands in source/ anyway need not be on disk before the next file is begun.
            _place(folder, path, data, durable=path not in given)
        _remove_others(folder, files.keys())
    except OSError as error:
        raise CourseError(f"The folder {folder} cannot be written: {error.strerror or error}.") from error


def read_autograded(folder: Path, name: str) -> dict[str, Any]:
    """The autograded notebook of an earlier grading; empty where there is none that can be read."""
    try:
        content = json.loads(read_plain_file(folder / f"{name}.ipynb", max_bytes=4 * MAX_FILE_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) and isinstance(content.get("cells"), list) else {}


def _other_files(submitted: Path, ours: set[Path]) -> Iterator[Path]:
    """What was handed in beside the notebooks, but for names that stand in the way of our own files."""
    folders = {parent for path in ours for parent in path.parents}
    try:
        paths = list(plain_files(submitted))
    except OSError:
        return
    for path in paths:
        ignored = any(fnmatch(part, sign) for part in path.parts for sign in _IGNORED)
        if not ignored and path not in folders and ours.isdisjoint([path, *path.parents]):
            yield path


def _read(path: Path) -> bytes | None:
    try:
        return read_plain_file(path, max_bytes=MAX_FILE_BYTES)
    except OSError:
        return None


def _place(folder: Path, path: Path, data: bytes, *, durable: bool) -> None:
    """Write a file unless it is there already; what an earlier grading left in its way goes."""
    target = folder / path
    for above in reversed(path.parents[:-1]):
        if (folder / above).is_symlink() or (folder / above).is_file():
            (folder / above).unlink()
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    if _read(target) != data:
        write_atomically(target, data, mode=MODE, durable=durable)


def _remove_others(folder: Path, kept: Collection[Path]) -> None:
    """Remove what an earlier grading left here."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif path.relative_to(folder) not in kept:
            path.unlink()
