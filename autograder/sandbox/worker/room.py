"""The room of one run: namespaces of its own, and file systems of its own, sized, empty but for its files.

Places in the box, the same in every one::

    /judge/worker     this program, to be read
    /judge/runs       where the judge lays the files of a run; hidden from the room
    /home/student     the student's home, in the room's own memory; the notebook runs in its ``notebook``
    /tmp, /dev/shm    in the room's own memory
    /dev/pts          the room's own pseudo-terminals

The process that makes a room is the first one (init) of its namespace of processes: when it is killed, the
kernel kills all that are in there.
"""

import functools
import os
import re
import shutil
import stat
from collections.abc import Callable
from typing import NoReturn

from . import kernel

WORKER = "/judge/worker"
RUNS = "/judge/runs"
HOME = "/home/student"
NOTEBOOK = f"{HOME}/notebook"
SCRATCH = "/tmp"
SHARED_MEMORY = "/dev/shm"
TERMINALS = "/dev/pts"

PLAIN = kernel.MS_NOSUID | kernel.MS_NODEV
NO_PROGRAMS = kernel.MS_NOSUID | kernel.MS_NOEXEC
#: A cell that begins with "!" needs one while it runs.
TERMINALS_LIMIT = 16


class Door:
    """Makes processes that stand in a new namespace of processes, each as the first one there."""

    def __init__(self) -> None:
        self._own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)

    def fork_into(self, first: Callable[[], NoReturn]) -> int:
        """Fork; the child calls ``first``. Returns its number. Raises OSError where the kernel refuses."""
        kernel.unshare(kernel.CLONE_NEWPID)
        try:
            pid = os.fork()
            if pid == 0:
                os.close(self._own)
                first()
        finally:
            # This process's later children are to stand where it stands itself.
            kernel.set_namespace(self._own, kernel.CLONE_NEWPID)
        return pid


def furnish(folder: str, uid: int | None, limits: dict[str, int]) -> None:
    """Give this process, and all that it forks, a room with copies of the files in ``folder``.

    ``uid`` is who is to own them, if not this process's own user. Raises OSError where the kernel refuses.
    """
    kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC)
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    size, files = limits["tmp_bytes"], limits["tmp_files"]
    _mount_memory(HOME, size + size_of(folder), files, mode=0o755)
    _mount_memory(SCRATCH, size, files, mode=0o1777)
    _mount_memory(SHARED_MEMORY, size, files, mode=0o1777)
    lay(folder, uid)
    kernel.mount(
        "none", TERMINALS, "devpts", NO_PROGRAMS, f"newinstance,ptmxmode=0666,mode=0620,max={TERMINALS_LIMIT}"
    )
    kernel.mount("none", RUNS, "tmpfs", PLAIN | kernel.MS_RDONLY, "size=4k,mode=0555")
    # Who may not trace a process does not see it, either.
    kernel.mount("proc", "/proc", "proc", NO_PROGRAMS | kernel.MS_NODEV, "hidepid=2")


def lay(folder: str, uid: int | None) -> None:
    """Copy the files of a run to the student's home, which is there and empty."""
    shutil.copytree(folder, NOTEBOOK)
    if uid is not None:
        os.chown(HOME, uid, uid)
        for path, _, files in os.walk(NOTEBOOK):
            os.chown(path, uid, uid)
            for name in files:
                os.chown(f"{path}/{name}", uid, uid)


def size_of(folder: str) -> int:
    """What the files in a folder need, in bytes, in whole pages."""
    page = os.sysconf("SC_PAGE_SIZE")
    sizes = (os.lstat(f"{path}/{name}").st_size for path, _, files in os.walk(folder) for name in files)
    return sum(-(-size // page) * page for size in sizes)


def _mount_memory(target: str, size: int, files: int, *, mode: int) -> None:
    """Mount a file system of that size; what the box shows below ``target`` is shown there again."""
    shown = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in _mounts_below(target)}
    kernel.mount("none", target, "tmpfs", PLAIN, f"size={size},nr_inodes={files},mode={mode:o}")
    for path, descriptor in shown.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            os.mkdir(path)  # noqa: PTH102
        else:
            os.close(os.open(path, os.O_CREAT | os.O_CLOEXEC))
        kernel.mount(f"/proc/self/fd/{descriptor}", path, flags=kernel.MS_BIND | kernel.MS_REC)
        os.close(descriptor)


@functools.cache
def _mounts_below(folder: str) -> list[str]:
    """The topmost mounts below a folder: none, unless the interpreter or its packages lie there."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123
        places = [_unescaped(line.split()[4]) for line in file]
    found: list[str] = []
    for place in places:  # in the order in which they were made: a later one covers what was below
        if place.startswith(f"{folder}/") and not any(place.startswith(f"{one}/") for one in found):
            found = [*(one for one in found if not one.startswith(f"{place}/")), place]
    return found


def _unescaped(place: str) -> str:
    """A path as it is: the kernel writes blanks in it in octal."""
    return re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), place)
