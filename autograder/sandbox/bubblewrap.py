"""The sandbox: a zygote in a box made by bubblewrap.

The box has namespaces of its own (processes, network, IPC, host name, and of users unless we are root), a
view of the machine that can only be read (``view.py``), nothing of our environment, and no descriptor but the
control socket. In it, every run gets a room of its own (``worker/room.py``), or, where the kernel does not
let the zygote make rooms, the box serves for a single run.

As an ordinary user, student code runs as that user, without rights, in a namespace of users of the box's own.
As root it runs as a user of its own, whom nobody else is, since root in a namespace of users would still be
root to whatever else is shared.

On disk: ``<folder>/runs/*`` hold the files of the runs, ``<folder>/log`` what bubblewrap and the zygote write
to stderr, ``<folder>/nothing`` what stands in the place of hidden things. The box ends with the thread of
ours that has started it.
"""

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterable
from pathlib import Path

from autograder.model import Environment, Limits
from autograder.sandbox.folder import BYTES_LIMIT
from autograder.sandbox.interpreter import Interpreter, this_interpreter
from autograder.sandbox.launcher import WORKER_FOLDER, end_of, worker_command, worker_environment
from autograder.sandbox.packages import Entries, entries
from autograder.sandbox.scratch import ScratchFolder
from autograder.sandbox.view import NO_PACKAGE, View, device_arguments, show_machine
from autograder.sandbox.worker import room

PROGRAM = "bwrap"
NAMESPACES = ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
LIFE = ("--as-pid-1", "--die-with-parent", "--new-session", "--hostname", "box")
#: The zygote's, to make rooms, to take all rights from what it starts, and to see what that uses.
RIGHTS = ("CAP_SYS_ADMIN", "CAP_SETPCAP", "CAP_SYS_PTRACE")
#: For root, to hand files and processes over to another user, and to kill these.
RIGHTS_OF_ROOT = ("CAP_SETUID", "CAP_SETGID", "CAP_CHOWN", "CAP_KILL")
#: The number of the user inside, as an ordinary user: no system's own.
UID_INSIDE = 1000
#: Users of our own, far from those of systems, services and containers; one for each process number.
FIRST_UID = 0x70000000
PROCESS_NUMBERS = 1 << 22
#: The first Linux to count an ordinary user's processes for each namespace of users.
COUNTS_IN_NAMESPACES = (5, 14)


class BubblewrapLauncher:
    """A zygote in a box; with ``rooms`` it makes one for each run; ``hidden`` folders are not to be seen."""

    sandboxed = True

    def __init__(
        self, *, rooms: bool = True, interpreter: Interpreter | None = None, hidden: Iterable[Path] = ()
    ):
        self.single_use = not rooms
        self.uid: int | None = None
        self._interpreter = interpreter or this_interpreter()
        self._hidden = tuple(hidden)
        self._scratch = ScratchFolder()
        self._top = self._scratch.path
        self.folder = self._top / "runs"
        self.folder.mkdir()
        self._nothing = self._top / "nothing"
        self._nothing.mkdir()
        (self._nothing / "__init__.py").write_text(NO_PACKAGE)
        (self._top / "empty").touch()

    @property
    def apart(self) -> str:
        """How runs are kept apart (``worker/zygote.py``)."""
        return "box" if self.single_use else "rooms"

    @property
    def counts_processes(self) -> bool:
        """As root by a user of its own, else by the namespace of users, where the kernel does that."""
        return can_be_another() or kernel_version() >= COUNTS_IN_NAMESPACES

    def inside(self, path: Path) -> str:
        """Its place below the one where the box shows ``folder``."""
        return f"{room.RUNS}/{path.relative_to(self.folder)}"

    def start(
        self, control: socket.socket, limits: Limits, environment: Environment
    ) -> subprocess.Popen[bytes]:
        """Start bubblewrap, which starts the zygote."""
        with (self._top / "log").open("ab") as log:
            process = subprocess.Popen(
                self.command(
                    limits, environment, "zygote", str(control.fileno()), self.apart, *environment.warm_up
                ),
                env=variables(),
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[control.fileno()],
                start_new_session=True,
            )
        self.uid = uid_for(process.pid) if can_be_another() else None
        return process

    def command(self, limits: Limits, environment: Environment, module: str, *arguments: str) -> list[str]:
        """The command that runs ``main(*arguments)`` of a module of the worker in the box."""
        packages = entries(environment, self._interpreter.packages)
        inside = worker_command(self._interpreter.executable, packages, room.WORKER, module, *arguments)
        return [shutil.which(PROGRAM) or PROGRAM, *self.arguments(limits, packages), "--", *inside]

    def arguments(self, limits: Limits, packages: Entries) -> list[str]:
        """Bubblewrap's arguments, without the command; ``packages`` are shown of all that are installed."""
        view = View(self._nothing, self._top / "empty")
        show_machine(view, self._interpreter, packages, self._hidden)
        view.show(WORKER_FOLDER, Path(room.WORKER))
        view.show(self.folder, Path(room.RUNS))
        return [
            *NAMESPACES,
            *LIFE,
            *self._rights(),
            # What is written to comes first: an interpreter that lies in /tmp is shown there.
            *self._memory(limits),
            *view.arguments,
            *("--proc", "/proc"),
            *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/"),
        ]

    def log(self) -> str:
        """The end of ``<folder>/log``."""
        return end_of(self._top / "log")

    def close(self) -> None:
        """Remove the folder."""
        self._scratch.close()

    def _rights(self) -> list[str]:
        if can_be_another():
            rights = [right for right in RIGHTS if not (self.single_use and right == "CAP_SYS_ADMIN")]
            wanted = (*rights, *RIGHTS_OF_ROOT)
            return ["--cap-drop", "ALL", *(word for right in wanted for word in ("--cap-add", right))]
        user = ["--unshare-user", "--uid", str(UID_INSIDE), "--gid", str(UID_INSIDE)]
        wanted = () if self.single_use else RIGHTS
        return [*user, *(word for right in wanted for word in ("--cap-add", right))]

    def _memory(self, limits: Limits) -> list[str]:
        """Places to write to: those of the run, in a box for one; else rooms put their own over them."""
        homes = str(Path(room.HOME).parent)
        if not self.single_use:
            return [*device_arguments(), "--tmpfs", room.SCRATCH, "--dir", homes, "--dir", room.HOME]
        size = str(limits.tmp_bytes)
        own = str(limits.tmp_bytes + BYTES_LIMIT)
        return [
            *("--dev", "/dev"),
            *("--size", size, "--perms", "1777", "--tmpfs", room.SCRATCH),
            *("--size", size, "--perms", "1777", "--tmpfs", room.SHARED_MEMORY),
            *("--dir", homes, "--size", own, "--tmpfs", room.HOME),
        ]


def variables() -> dict[str, str]:
    """What the zygote gets to know from us: nothing of our own environment."""
    return worker_environment(room.SCRATCH) | {"USER": "student", "LOGNAME": "student"}


def can_be_another() -> bool:
    """Whether this process is root, and can start others as a user that nobody else is."""
    last = FIRST_UID + 16 * PROCESS_NUMBERS
    return os.geteuid() == 0 and _is_known_to_us(FIRST_UID) and _is_known_to_us(last)


def uid_for(pid: int) -> int:
    """A user for the box of a process: by its number, and, for other machines in one kernel, by their own."""
    machine = Path("/proc/self/ns/pid").stat().st_ino % 16
    return FIRST_UID + machine * PROCESS_NUMBERS + pid


def kernel_version() -> tuple[int, int]:
    """Linux's version, its first two numbers; (0, 0) where it has none that can be read."""
    found = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _is_known_to_us(uid: int) -> bool:
    """Whether our namespace of users has that number."""
    for line in Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines():
        first, _, count = map(int, line.split())
        if first <= uid < first + count:
            return True
    return False
