"""The warm interpreter from which every run is forked. It runs no student code.

It says hello and reads orders from its control socket, and answers each with one frame::

    run    folder, home, limits, exceptions, uid, counted, pictures (whether the notebook needs matplotlib);
           with sockets: the run's own, then one for each held fork    -> {"running": true}
    stop   keep: kill all processes of the run but these, which are the held forks by their own numbers
                                     -> {"stopped": how the main process ended, "cpu_seconds": what it, and
                                         what it has waited for, has used, "spent": whether all processes
                                         together used more, and were killed, "exceeded": as below}
    state  -> {"exceeded": whether processes were killed, since this was last asked, for using too much}
    end    kill all that the run has left        -> {"ended": whether nothing is left}

How a process ended: 0 for a normal end, a positive exit code, or minus the number of a signal. When the
judge goes away (end of file), everything is killed and the zygote ends.

How far a run is kept apart is one of three:

``plain``  not at all. The main process is a child of this one, which adopts orphans (PR_SET_CHILD_SUBREAPER),
           so that none can slip out of its reach; a main process dies with its zygote (PR_SET_PDEATHSIG).
``box``    as in ``plain``, inside a box made by bubblewrap for a single run. This is the box's first process,
           with which all others die, and it watches over what they use.
``rooms``  each run has a room of its own (``room.py``) with a first process of its own (``init.py``).
"""

import os
import signal
import socket
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Protocol

from . import kernel, room, warmth, wire
from .family import Family
from .init import live, start_confined
from .links import receive_with_sockets, wait
from .room import Door
from .runner import parse, run
from .shell import StudentShell, make_shell

Sockets = list[socket.socket]


class Running(Protocol):
    """The processes of the run that is under way."""

    def answer(self, order: dict[str, Any]) -> dict[str, Any]:
        """Carry out ``stop`` or ``state``."""

    def end(self) -> bool:
        """Kill what is left; says whether nothing is left."""

    def look(self) -> None:
        """Watch over it; called again and again."""


class Room:
    """A run in a room of its own, seen from outside: its first process, and the socket to it."""

    def __init__(self, door: Door, first: Callable[[socket.socket], NoReturn]):
        self._link, far = socket.socketpair()

        def begin() -> NoReturn:
            self._link.close()
            first(far)

        with far:
            self._pid = door.fork_into(begin)

    def answer(self, order: dict[str, Any]) -> dict[str, Any]:
        """Pass it on; raises ConnectionError where the room has broken down."""
        self._link.sendall(wire.pack(order))
        received = receive_with_sockets(self._link)
        if received is None:
            raise ConnectionError("the first process of a room has ended")
        return received[0].header

    def end(self) -> bool:
        """Kill the first process, and thereby all."""
        self._link.close()
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        return True

    def look(self) -> None:
        """Its first process does that."""


class Zygote:
    """Answers the judge's orders, one run at a time."""

    def __init__(self, control: socket.socket, apart: str, modules: Sequence[str]):
        self._control = control
        self._shell: StudentShell = make_shell()
        warmth.warm_up(modules)
        self._running: Running | None = None
        self._start = {"plain": self._start_plain, "box": self._start_box, "rooms": self._start_room}[apart]
        self._door = Door() if apart == "rooms" else None
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
        if apart != "plain":
            kernel.prctl(kernel.PR_SET_DUMPABLE, 0)  # nobody is to read or trace it, not even its own user
        warmth.freeze()

    def serve(self) -> None:
        """Say hello, then answer until the judge hangs up."""
        self._control.sendall(wire.pack({"hello": True}))
        try:
            while (received := self._next()) is not None:
                frame, sockets = received
                self._control.sendall(wire.pack(self._answer(frame.header, sockets)))
        finally:
            self._end()

    def _next(self) -> tuple[wire.Frame, Sockets] | None:
        if self._running is not None:
            wait(self._control, self._running.look)
        return receive_with_sockets(self._control)

    def _answer(self, header: dict[str, Any], sockets: Sockets) -> dict[str, Any]:
        match header["do"]:
            case "run":
                if header["pictures"]:
                    warmth.warm_up_pictures()
                self._running = self._start(header, sockets)
                for one in sockets:
                    one.close()
                return {"running": True}
            case "end":
                return {"ended": self._end()}
        if self._running is None:
            return {}
        return self._running.answer(header)

    def _end(self) -> bool:
        running, self._running = self._running, None
        return running is None or running.end()

    def _start_plain(self, header: dict[str, Any], sockets: Sockets) -> Running:
        order = parse(header, confined=False)
        own = os.getpid()

        def main() -> None:
            kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() == own:
                self._control.close()
                run(self._shell, order, sockets[0], sockets[1:])

        return Family(main)

    def _start_box(self, header: dict[str, Any], sockets: Sockets) -> Running:
        order = parse(header, confined=True)
        room.lay(order.folder, order.uid)
        return start_confined(self._shell, order, sockets, own=self._control)

    def _start_room(self, header: dict[str, Any], sockets: Sockets) -> Running:
        order = parse(header, confined=True)
        assert self._door is not None

        def first(link: socket.socket) -> NoReturn:
            self._control.close()
            live(link, self._shell, order, sockets)

        return Room(self._door, first)


def main(descriptor: str, apart: str, *modules: str) -> None:
    """The zygote's whole life, on the control socket with that file descriptor; imports ``modules`` first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the judge's affair
    Zygote(socket.socket(fileno=int(descriptor)), apart, modules).serve()
