"""The warm interpreter from which every run is forked. It runs no student code.

It reads orders from its control socket and answers each with one frame::

    run   folder, steps, limits, exceptions; with sockets: the run's own, then one for each examination
          -> {"running": pid}
    stop  kill the main process of the run           -> {"stopped": how it ended}
    end   kill all that the run has left             -> {"ended": true}

How a process ended: 0 for a normal end, a positive exit code, or minus the number of a signal. When the judge goes
away (end of file), everything is killed and the zygote ends. It adopts orphans (PR_SET_CHILD_SUBREAPER), so that no
process of a run can slip out of its reach.
"""

import ctypes
import gc
import json
import os
import signal
import socket
import time
from pathlib import Path
from typing import Any

from . import wire
from .links import receive_with_sockets
from .runner import Order, run
from .shell import StudentShell, make_shell

PR_SET_CHILD_SUBREAPER = 36
BURIAL_SECONDS = 5.0


class Zygote:
    """Answers the judge's orders, one run at a time."""

    def __init__(self, control: socket.socket):
        self._control = control
        self._shell: StudentShell = make_shell()
        self._main: int | None = None
        self._main_ended: int | None = None
        gc.collect()
        gc.freeze()

    def serve(self) -> None:
        """Say hello, then answer until the judge hangs up."""
        self._control.sendall(wire.pack({"hello": True}))
        try:
            while (received := receive_with_sockets(self._control)) is not None:
                frame, sockets = received
                self._control.sendall(wire.pack(self._answer(frame.header, frame.body, sockets)))
        finally:
            kill_descendants()

    def _answer(self, order: dict[str, Any], body: bytes, sockets: list[socket.socket]) -> dict[str, Any]:
        match order["do"]:
            case "run":
                return {"running": self._start(order, body, sockets)}
            case "stop":
                return {"stopped": self._stop()}
            case "end":
                self._stop()
                kill_descendants()
                return {"ended": True}
        raise ValueError(f"no such order: {order['do']}")

    def _start(self, order: dict[str, Any], body: bytes, sockets: list[socket.socket]) -> int:
        link, *exams = sockets
        self._main_ended = None
        self._main = os.fork()
        if self._main == 0:
            try:
                self._control.close()
                gc.enable()
                run(self._shell, _parse(order, body), link, exams)
            finally:
                os._exit(0)
        for one in sockets:
            one.close()
        return self._main

    def _stop(self) -> int:
        if self._main is not None and self._main_ended is None:
            _signal(self._main, signal.SIGKILL)
            _, status = os.waitpid(self._main, 0)
            self._main_ended = os.waitstatus_to_exitcode(status)
        return self._main_ended or 0


def _parse(order: dict[str, Any], body: bytes) -> Order:
    return Order(order["folder"], json.loads(body), order["limits"], frozenset(order["exceptions"]))


def kill_descendants() -> None:
    """Kill and bury everything below this process, however often it forks meanwhile."""
    give_up = time.monotonic() + BURIAL_SECONDS
    while time.monotonic() < give_up:
        alive = descendants(os.getpid())
        for pid in alive:  # stop all first, so that none can fork while the others die
            _signal(pid, signal.SIGSTOP)
        for pid in alive:
            _signal(pid, signal.SIGKILL)
        if not _bury():
            return
        time.sleep(0.001)


def _bury() -> bool:
    """Take leave of the dead; says whether any child is still there."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True


def descendants(root: int) -> list[int]:
    """All processes below ``root``, from /proc."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_bytes()
            except OSError:  # it ended while we looked
                continue
            parent = int(stat[stat.rindex(b")") + 2 :].split()[1])
            children.setdefault(parent, []).append(int(entry.name))
    found: list[int] = []
    waiting = [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def main(descriptor: int) -> None:
    """The zygote's whole life, on the control socket with that file descriptor."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the judge's affair
    Zygote(socket.socket(fileno=descriptor)).serve()
