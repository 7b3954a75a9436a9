"""Reading and writing single files so that neither hostile folders nor a sudden end do harm.

Reading never follows a link, never waits for a FIFO and never takes more than was allowed. Writing goes
to a neighbour file first and then takes its place in one step: readers see the old file or the new one.
"""

import difflib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

#: Folders below folders, and bytes of a path in a submission: what lies deeper is nobody's work, and a longer
#: path could be too long for the system once it stands in another folder.
MAX_DEPTH = 50
MAX_PATH_BYTES = 1000


def read_plain_file(path: Path, *, max_bytes: int) -> bytes:
    """The bytes of a regular file.

    Raises OSError where it is a link, a device, a FIFO or a folder, where it is larger than
    ``max_bytes``, or where it cannot be read; ``strerror`` then says so in words.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a link, not a plain file", str(path)) from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a plain file", str(path))
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise OSError(errno.EFBIG, f"it is larger than {megabytes(max_bytes)}", str(path))
    return data


def plain_files(folder: Path, *, max_files: int = 1000, max_bytes: int = 64 * 2**20) -> Iterator[Path]:
    """The regular files below a folder, relative to it, in a fixed order; links are never followed.

    What is ``too_deep`` is passed over.
    Ends early once ``max_files`` files or ``max_bytes`` bytes are reached. Raises OSError where a folder
    cannot be listed.
    """
    waiting = [Path()]
    while waiting:
        below = waiting.pop()
        with os.scandir(folder / below) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        found = [entry for entry in found if not too_deep(below / entry.name)]
        for entry in found:
            if entry.is_file(follow_symlinks=False):
                max_files -= 1
                max_bytes -= entry.stat(follow_symlinks=False).st_size
                if max_files < 0 or max_bytes < 0:
                    return
                yield below / entry.name
        folders = [below / entry.name for entry in found if entry.is_dir(follow_symlinks=False)]
        waiting.extend(reversed(folders))


def too_deep(path: Path) -> bool:
    """Whether a path, relative to the submission's folder, is deeper or longer than anybody's work."""
    return len(path.parts) > MAX_DEPTH or len(os.fsencode(path)) > MAX_PATH_BYTES


def write_atomically(path: Path, data: bytes, *, mode: int = 0o644, durable: bool = True) -> None:
    """Put ``data`` at ``path`` in one step, with exactly the permissions ``mode``.

    Unless ``durable``, it may be lost when the machine, not only this program, comes to a sudden end. The
    folder must exist. Raises OSError (disk full, read-only folder); the old file is then untouched.
    """
    partial = path.with_name(f".{secrets.token_hex(8)}.partial")
    try:
        write_new_file(partial, data, mode=mode, durable=durable)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def remove_partial_files(folder: Path) -> None:
    """Remove what writers that were killed have left in a folder, in which nobody may be writing now.

    Raises OSError where that fails; a folder that is missing holds nothing.
    """
    for path in folder.glob(".*.partial"):
        path.unlink(missing_ok=True)


def write_new_file(path: Path, data: bytes, *, mode: int, durable: bool = True) -> None:
    """Make a file that did not exist; raises FileExistsError otherwise. If ``durable`` it is on disk then."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fchmod(descriptor, mode)
        if durable:
            os.fsync(descriptor)


def place_new_file(made: Path, path: Path) -> None:
    """Give a finished file its final name on the same disk; a file that has that name already stays.

    Raises OSError where that fails.
    """
    try:
        os.link(made, path)
    except FileExistsError:
        return
    except OSError:
        # No hard links on this file system: a rename is as whole, and only a race would overwrite.
        made.rename(path)


def readable(path: Path) -> str:
    """A path in words: bytes that are no UTF-8, which no report could hold, show as U+FFFD."""
    return os.fsencode(path).decode("utf-8", "replace")


def megabytes(size_bytes: int) -> str:
    """A size in words.

    >>> megabytes(100 * 2**20)
    '100 MB'
    """
    return f"{size_bytes / 2**20:.3g} MB"


def did_you_mean_path(path: Path) -> str:
    """A sentence, with a space before it, that names the nearest path that exists; else nothing."""
    missing = path
    while not missing.parent.exists():
        missing = missing.parent
    try:
        names = [one.name for one in missing.parent.iterdir()]
    except OSError:  # it may not be read, or is no folder: there is nothing to suggest
        return ""
    nearest = difflib.get_close_matches(missing.name, names, n=1)
    return f" Did you mean {missing.parent / nearest[0]}?" if nearest else ""
