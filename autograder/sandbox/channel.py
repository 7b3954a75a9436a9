"""The judge's end of a socket: frames out, frames in, with limits of time and size.

Nothing on the other end is trusted. A channel never blocks without a limit, holds at most one frame, takes
no file descriptors (the kernel drops what it is sent), and learns the number of the process at the other end
from the kernel (SO_PASSCRED), never from what that process says. It notices the end of that process even
where others hold copies of its socket.
"""

import contextlib
import select
import socket
import struct
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.sandbox.worker import wire
from autograder.sandbox.worker.processes import Process, find

CREDENTIALS = struct.Struct("3i")
#: Linux's number; Python's ``socket`` module does not name it.
SCM_CREDENTIALS = 2
CHUNK = 1 << 18
#: How long to wait before looking at the CPU time of a process that does not answer.
PATIENCE_SECONDS = 0.05


class ChannelClosed(Exception):
    """The other end hung up, or its process ended."""


class OutOfTime(Exception):
    """No answer within the limit; ``by_clock`` if wall time ran out, though CPU time had not."""

    def __init__(self, by_clock: bool):
        super().__init__("by the clock" if by_clock else "by CPU time")
        self.by_clock = by_clock


@dataclass
class TimeLimit:
    """How long to wait for one answer; ``cpu_seconds`` counts what ``process`` uses from the start.

    The start is where its CPU time was last seen: a look for every answer would cost as much as the answer.
    """

    wall_seconds: float
    cpu_seconds: float | None = None
    process: Process | None = None
    _wall_start: float = field(default_factory=time.monotonic)
    _cpu_start: float = 0.0

    def __post_init__(self) -> None:
        if self.process is not None:
            self._cpu_start = self.process.seen_cpu_seconds

    def cpu_used(self) -> float:
        """CPU seconds since the start, as last seen; 0 where nobody watches them."""
        return 0.0 if self.process is None else self.process.cpu_seconds() - self._cpu_start

    def wall_used(self) -> float:
        """Seconds by the clock since the start."""
        return time.monotonic() - self._wall_start

    def check(self) -> None:
        """Raise ``OutOfTime`` when it has run out."""
        if self.cpu_seconds is not None and self.cpu_used() > self.cpu_seconds:
            raise OutOfTime(by_clock=False)
        if self.wall_used() > self.wall_seconds:
            raise OutOfTime(by_clock=True)


class Channel:
    """One socket to one process of the box: ``peer``, once it has been greeted."""

    def __init__(self, link: socket.socket, body_limit: int):
        self._link = link
        self._reader = wire.FrameReader(body_limit)
        self._link.setblocking(False)
        self.peer: Process | None = None

    def send(
        self,
        header: dict[str, Any],
        body: bytes = b"",
        *,
        limit: TimeLimit,
        sockets: Sequence[socket.socket] = (),
    ) -> None:
        """Send one frame; ``sockets`` travel with its first byte.

        Raises ``ChannelClosed`` or ``OutOfTime``, after which the channel is of no use, and ValueError where
        the header is larger than the other end takes.
        """
        data = memoryview(wire.pack(header, body))
        if len(data) - len(body) > wire.HEADER_LIMIT + wire.PREFIX.size:
            raise ValueError("too many values for one message; large ones must be arrays")
        with _closing():
            while data:
                try:
                    data = data[self._send_some(data[:CHUNK], sockets) :]
                    sockets = ()
                except BlockingIOError:
                    self._wait(limit, self.peer, select.POLLOUT)
                if data:  # a trickle must not buy time
                    limit.check()

    def receive(self, limit: TimeLimit) -> wire.Frame:
        """The next frame; raises ``WireError`` where the other end sends anything else."""
        wait = True  # an answer is not there at once; when its first bytes are, the others mostly are, too
        while (frame := self._reader.frame()) is None:
            if wait:
                self._wait(limit, self.peer)
            with _closing():
                try:
                    data = self._link.recv(min(self._reader.missing(), CHUNK))
                except BlockingIOError:
                    wait = True
                    limit.check()  # a trickle must not buy time
                    continue
            if not data:
                raise ChannelClosed("end of file")
            self._reader.feed(data)
            wait = False
        return frame

    def greet(self, limit: TimeLimit, root: int, parent: Process | None = None) -> Process:
        """Wait for the other end's first frame and say which process, below ``root``, sent it.

        Gives up when ``parent``, which is to make that process, ends.
        """
        self._wait(limit, parent)
        with _closing():
            data, ancillary, _, _ = self._link.recvmsg(wire.PREFIX.size, socket.CMSG_SPACE(CREDENTIALS.size))
        if not data:
            raise ChannelClosed("end of file")
        self._reader.feed(data)
        pids = [
            CREDENTIALS.unpack(raw[: CREDENTIALS.size])[0]
            for level, kind, raw in ancillary
            if level == socket.SOL_SOCKET and kind == SCM_CREDENTIALS and len(raw) >= CREDENTIALS.size
        ]
        self.peer = find(pids[0], root) if pids else None
        if self.peer is None:
            raise ChannelClosed("the process at the other end is gone")
        self.receive(limit)
        return self.peer

    def hang_up(self) -> None:
        """Close the socket; the process at the other end is still watched."""
        self._link.close()

    def kill(self) -> None:
        """Kill the process at the other end, and hang up."""
        if self.peer is not None:
            self.peer.kill()
        self._link.close()

    def close(self) -> None:
        """Hang up and forget the process at the other end."""
        self._link.close()
        if self.peer is not None:
            self.peer.close()

    def _send_some(self, data: memoryview, sockets: Sequence[socket.socket]) -> int:
        if sockets:
            return socket.send_fds(self._link, [data], [one.fileno() for one in sockets])
        return self._link.send(data)

    def _wait(self, limit: TimeLimit, watched: Process | None, wanted: int = select.POLLIN) -> None:
        """Wait until the socket is ready; raises ``ChannelClosed`` when ``watched`` has ended."""
        both = select.poll()
        both.register(self._link, wanted)
        if watched is not None:
            both.register(watched, select.POLLIN)
        while not (ready := both.poll(PATIENCE_SECONDS * 1000)):
            limit.check()
        if len(ready) == 1 and ready[0][0] != self._link.fileno() and not self._is_ready(wanted):
            raise ChannelClosed("its process has ended")

    def _is_ready(self, wanted: int) -> bool:
        """Whether it is ready now: the last words of a process that has ended may have come since."""
        link = select.poll()
        link.register(self._link, wanted)
        return bool(link.poll(0))


@contextlib.contextmanager
def _closing() -> Iterator[None]:
    """Turn every way in which a connection breaks into one."""
    try:
        yield
    except ConnectionError as error:
        raise ChannelClosed(str(error)) from error


def pair(body_limit: int) -> tuple[Channel, socket.socket]:
    """A new channel and the far end, to be handed down and then closed here."""
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    # Before anything is sent, or it would not count.
    near.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return Channel(near, body_limit), far
