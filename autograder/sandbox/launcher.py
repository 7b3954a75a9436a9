"""Starts a zygote: where and how student code runs.

The rest of the kit does not know which launcher it uses.
"""

import json
import os
import socket
import subprocess
from pathlib import Path
from typing import Protocol

from autograder.model import Environment, Limits
from autograder.sandbox.interpreter import this_interpreter
from autograder.sandbox.packages import Entries, entries
from autograder.sandbox.scratch import ScratchFolder

LOG_BYTES = 2000
#: One thread for each of the libraries below NumPy.
ONE_THREAD = {
    f"{library}_NUM_THREADS": "1"
    for library in ("OPENBLAS", "OMP", "MKL", "BLIS", "NUMEXPR", "VECLIB_MAXIMUM")
}
WORKER_FOLDER = Path(__file__).parent / "worker"

#: Run by the interpreter of the box: load the worker by path under a name of its own, and hand over.
BOOT = """
import importlib.util, sys
module, folder, packages, *arguments = sys.argv[1:]
spec = importlib.util.spec_from_file_location(
    "judge_worker", folder + "/__init__.py", submodule_search_locations=[folder])
sys.modules["judge_worker"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["judge_worker"])
sys.argv = [""]
importlib.import_module("judge_worker.packages").keep_to(packages)
importlib.import_module("judge_worker." + module).main(*arguments)
"""


class Launcher(Protocol):
    """A way of running student code."""

    @property
    def sandboxed(self) -> bool:
        """Whether the code is kept from the network, the course and other processes."""

    @property
    def counts_processes(self) -> bool:
        """Whether the kernel's limit on the number of processes counts those of the box alone."""

    @property
    def single_use(self) -> bool:
        """Whether a zygote serves one run only."""

    @property
    def uid(self) -> int | None:
        """The user as whom student code runs, if another than the zygote's own; set when it has started."""

    @property
    def folder(self) -> Path:
        """Where the judge lays the files of a run."""

    def inside(self, path: Path) -> str:
        """The name, inside the box, of a path below ``folder``."""

    def start(
        self, control: socket.socket, limits: Limits, environment: Environment
    ) -> subprocess.Popen[bytes]:
        """Start the zygote on that control socket; raises SandboxError where that cannot even be tried."""

    def log(self) -> str:
        """The end of what the zygote wrote to stderr: for a report of a fault of ours."""

    def close(self) -> None:
        """Remove ``folder``."""


class Launch(Protocol):
    """What makes a launcher when it is called, and says beforehand whether that is a sandboxed one."""

    @property
    def sandboxed(self) -> bool:
        """As the launchers'."""

    def __call__(self) -> Launcher:
        """A new launcher."""


class PlainLauncher:
    """A plain child process with resource limits, a clean environment and a folder of its own: no sandbox.

    ``<folder>/home`` is the zygote's home directory, ``<folder>/runs/*`` hold the files of the runs,
    ``<folder>/log`` what the zygote writes to stderr. Code that means harm can still read, write and signal
    whatever the judge can.
    """

    sandboxed = False
    counts_processes = False
    single_use = False
    uid = None

    def __init__(self) -> None:
        self._scratch = ScratchFolder()
        self._top = self._scratch.path
        self.folder = self._top / "runs"
        for path in (self.folder, self._top / "home"):
            path.mkdir()

    def inside(self, path: Path) -> str:
        """Nothing is mounted elsewhere: the path itself."""
        return str(path)

    def start(
        self, control: socket.socket, limits: Limits, environment: Environment
    ) -> subprocess.Popen[bytes]:
        """Start the zygote in a session of its own, with nothing of our environment but the machine's."""
        interpreter = this_interpreter()
        zygote = worker_command(
            interpreter.executable,
            entries(environment, interpreter.packages),
            str(WORKER_FOLDER),
            *("zygote", str(control.fileno()), "plain", *environment.warm_up),
        )
        with (self._top / "log").open("ab") as log:
            return subprocess.Popen(
                zygote,
                env=worker_environment(str(self._top / "home")),
                cwd=self._top / "home",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[control.fileno()],
                start_new_session=True,
            )

    def log(self) -> str:
        """The end of ``<folder>/log``."""
        return end_of(self._top / "log")

    def close(self) -> None:
        """Remove the folder, with whatever the student's code has left in it."""
        self._scratch.close()


def end_of(log: Path) -> str:
    """The last words of a log file; none where there is no such file."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - LOG_BYTES))
            return file.read(LOG_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""


def worker_command(
    executable: str, packages: Entries, folder: str, module: str, *arguments: str
) -> list[str]:
    """The command that runs ``main(*arguments)`` of a module of the worker, which lies in ``folder``.

    ``executable`` is Python, ``packages`` what it may import of those that are installed.
    ``-S`` leaves out the .pth files that would make the kit itself importable.
    """
    options = ["-S", "-s", "-P", "-B", "-c", BOOT]
    found = json.dumps({place: sorted(names) for place, names in packages.items()})
    return [executable, *options, module, folder, found, *arguments]


def worker_environment(home: str) -> dict[str, str]:
    """A clean environment; one thread each for the libraries below NumPy, before any limit is set."""
    machine = {name: value for name, value in os.environ.items() if name.startswith("OPENBLAS_")}
    return (
        machine
        | {
            "HOME": home,
            "IPYTHONDIR": f"{home}/.ipython",
            "MPLCONFIGDIR": f"{home}/.matplotlib",
            "PATH": os.defpath,
            "LANG": "C.UTF-8",
            "PYTHONHASHSEED": "0",
            "PYTHONUTF8": "1",
        }
        | ONE_THREAD
    )
