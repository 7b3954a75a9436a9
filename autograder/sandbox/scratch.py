"""Temporary folders of launchers, which hold what students have handed in while it is being graded.

A folder is its owner's as long as that process lives: it holds a lock on a file in there. What a process that
was killed has left behind is removed by whoever makes the next one.
"""

import fcntl
import os
import stat
import tempfile
from pathlib import Path

from autograder.errors import JudgeError
from autograder.sandbox.folder import remove

PREFIX = "autograder-worker-"
LOCK = "owner"


class ScratchFolder:
    """A new folder of this process's own; ``close`` removes it."""

    def __init__(self) -> None:
        remove_abandoned()
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
            self._lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            # Somebody who is tidying up may have taken it for abandoned, just now.
            if _locks(self._lock) and self.path.exists():
                return
            os.close(self._lock)

    def close(self) -> None:
        """Remove it, with whatever is in there; once more does nothing."""
        if self._lock >= 0:
            remove(self.path)
            os.close(self._lock)
            self._lock = -1


def remove_abandoned() -> None:
    """Remove the folders of processes of this user that are no more; leave those that cannot be removed."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            status = path.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
                continue
            lock = os.open(path / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:  # gone meanwhile, or not locked yet
            continue
        try:
            if _locks(lock):
                remove(path)
        except JudgeError:  # the next one may have better luck, and this one does not need it
            continue
        finally:
            os.close(lock)


def _locks(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
