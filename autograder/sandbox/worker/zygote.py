"""The warm interpreter from which every run is forked. It runs no student code.

It reads orders from its control socket and answers each with one frame::

    run   folder, home, limits, exceptions, pictures (whether the notebook needs matplotlib); with sockets:
          the run's own, then one for each held fork    -> {"running": pid}
    stop  kill the main process of the run           -> {"stopped": how it ended}
    end   kill all that the run has left             -> {"ended": whether nothing is left}

How a process ended: 0 for a normal end, a positive exit code, or minus the number of a signal. When the
judge goes away (end of file), everything is killed and the zygote ends. It adopts orphans
(PR_SET_CHILD_SUBREAPER), so that no process of a run can slip out of its reach; a main process dies with its
zygote (PR_SET_PDEATHSIG).
"""

import ctypes
import gc
import importlib
import os
import signal
import socket
import time
import traceback
from typing import Any

from . import wire
from .links import receive_with_sockets
from .processes import kill_below
from .runner import Order, run
from .shell import StudentShell, make_shell

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
BURIAL_SECONDS = 5.0
DYING_SECONDS = 0.01


class Zygote:
    """Answers the judge's orders, one run at a time."""

    def __init__(self, control: socket.socket):
        self._control = control
        self._shell: StudentShell = make_shell()
        self._libc = ctypes.CDLL(None)
        self._main: int | None = None
        self._main_ended: int | None = None
        self._libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        gc.collect()
        gc.freeze()

    def serve(self) -> None:
        """Say hello, then answer until the judge hangs up."""
        self._control.sendall(wire.pack({"hello": True}))
        try:
            while (received := receive_with_sockets(self._control)) is not None:
                frame, sockets = received
                self._control.sendall(wire.pack(self._answer(frame.header, sockets)))
        finally:
            end_all()

    def _answer(self, order: dict[str, Any], sockets: list[socket.socket]) -> dict[str, Any]:
        match order["do"]:
            case "run":
                return {"running": self._start(order, sockets)}
            case "stop":
                return {"stopped": self._stop()}
            case "end":
                self._stop()
                return {"ended": end_all()}
        raise ValueError(f"no such order: {order['do']}")

    def _start(self, order: dict[str, Any], sockets: list[socket.socket]) -> int:
        if order["pictures"]:
            warm_up_pictures()
        link, *exams = sockets
        own = os.getpid()
        self._main_ended = None
        self._main = os.fork()
        if self._main == 0:
            try:
                self._libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
                if os.getppid() == own:
                    self._control.close()
                    run(self._shell, _parse(order), link, exams)
            except BaseException:  # noqa: BLE001 (it goes into the log, until the student's code has begun)
                traceback.print_exc()
            finally:
                os._exit(0)
        for one in sockets:
            one.close()
        return self._main

    def _stop(self) -> int:
        if self._main is not None and self._main_ended is None:
            os.kill(self._main, signal.SIGKILL)
            _, status = os.waitpid(self._main, 0)
            self._main_ended = os.waitstatus_to_exitcode(status)
        return self._main_ended or 0


def warm_up_pictures() -> None:
    """Import matplotlib, if it is there: once for all runs, and its search for fonts on nobody's account."""
    try:
        importlib.import_module("matplotlib.pyplot")
    except Exception:  # noqa: BLE001 (missing or broken, the notebook that imports it will show why)
        return
    gc.collect()
    gc.freeze()


def end_all() -> bool:
    """Kill and bury everything below this process, orphans included; says whether nothing is left.

    The judge has killed what it knew of, so that all may be dead or dying already.
    """
    start = time.monotonic()
    while _children_left():
        if time.monotonic() > start + BURIAL_SECONDS:
            return False
        if time.monotonic() > start + DYING_SECONDS:
            kill_below(os.getpid(), chase_seconds=0)
        time.sleep(0.001)
    return True


def main(descriptor: int) -> None:
    """The zygote's whole life, on the control socket with that file descriptor."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the judge's affair
    Zygote(socket.socket(fileno=descriptor)).serve()


def _parse(order: dict[str, Any]) -> Order:
    return Order(order["folder"], order["home"], order["limits"], frozenset(order["exceptions"]))


def _children_left() -> bool:
    """Bury the dead, and say whether any child is still alive."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True
