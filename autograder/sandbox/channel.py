"""The judge's end of a socket: frames out, frames in, with limits of time and size.

Nothing on the other end is trusted. A channel never blocks without a limit, holds at most one frame, takes no file
descriptors (the kernel drops what it is sent), and learns the number of the process at the other end from the kernel
(SO_PASSCRED), never from what that process says.
"""

import contextlib
import select
import socket
import struct
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.sandbox.processes import Process, find
from autograder.sandbox.worker import wire

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
    """How long to wait for one answer; ``cpu_seconds`` counts from ``start``."""

    wall_seconds: float
    cpu_seconds: float | None = None
    process: Process | None = None
    _wall_start: float = field(default_factory=time.monotonic)
    _cpu_start: float = 0.0
    _cpu_used: float = 0.0

    def __post_init__(self) -> None:
        if self.process is not None:
            self._cpu_start = self.process.cpu_seconds()

    def cpu_used(self) -> float:
        """CPU seconds since the start, as last seen alive; 0 where nobody watches them."""
        if self.process is not None:
            self._cpu_used = max(self._cpu_used, self.process.cpu_seconds() - self._cpu_start)
        return self._cpu_used

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
    """One socket to one process of the box."""

    def __init__(self, link: socket.socket, body_limit: int):
        self._link = link
        self._reader = wire.FrameReader(body_limit)
        self._link.setblocking(False)

    @contextlib.contextmanager
    def _closing(self) -> Iterator[None]:
        """Turn every way in which a connection breaks into one."""
        try:
            yield
        except (ConnectionError, BrokenPipeError) as error:
            raise ChannelClosed(str(error)) from error

    def send(
        self,
        header: dict[str, Any],
        body: bytes = b"",
        *,
        limit: TimeLimit,
        sockets: Sequence[socket.socket] = (),
    ) -> None:
        """Send one frame; ``sockets`` travel with its first byte."""
        data = memoryview(wire.pack(header, body))
        with self._closing():
            while data:
                self._wait(limit, writing=True)
                try:
                    if sockets:
                        sent = socket.send_fds(self._link, [data[:CHUNK]], [one.fileno() for one in sockets])
                        sockets = ()
                    else:
                        sent = self._link.send(data[:CHUNK])
                except BlockingIOError:
                    continue
                data = data[sent:]

    def receive(self, limit: TimeLimit) -> wire.Frame:
        """The next frame; raises ``WireError`` where the other end sends anything else."""
        first = True
        while (frame := self._reader.frame()) is None:
            if not first:  # a trickle of bytes must not buy time
                limit.check()
            first = False
            self._wait(limit, writing=False)
            with self._closing():
                try:
                    data = self._link.recv(min(self._reader.missing(), CHUNK))
                except BlockingIOError:
                    continue
            if not data:
                raise ChannelClosed("end of file")
            self._reader.feed(data)
        return frame

    def greet(self, limit: TimeLimit, root: int) -> Process:
        """Wait for the other end's first frame and say which process, below ``root``, sent it."""
        self._wait(limit, writing=False)
        with self._closing():
            data, ancillary, _, _ = self._link.recvmsg(wire.PREFIX.size, socket.CMSG_SPACE(CREDENTIALS.size))
        if not data:
            raise ChannelClosed("end of file")
        self._reader.feed(data)
        pids = [
            CREDENTIALS.unpack(raw[: CREDENTIALS.size])[0]
            for level, kind, raw in ancillary
            if level == socket.SOL_SOCKET and kind == SCM_CREDENTIALS and len(raw) >= CREDENTIALS.size
        ]
        process = find(pids[0], root) if pids else None
        if process is None:
            raise ChannelClosed("the process at the other end is gone")
        try:
            self.receive(limit)
        except BaseException:
            process.close()
            raise
        return process

    def close(self) -> None:
        """Hang up."""
        self._link.close()

    def _wait(self, limit: TimeLimit, *, writing: bool) -> None:
        waiting = [self._link]
        while True:
            ready = select.select(
                [] if writing else waiting, waiting if writing else [], [], PATIENCE_SECONDS
            )
            if ready[0] or ready[1]:
                return
            limit.check()


def pair(body_limit: int) -> tuple[Channel, socket.socket]:
    """A new channel and the far end, to be handed down and then closed here."""
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    near.setsockopt(
        socket.SOL_SOCKET, socket.SO_PASSCRED, 1
    )  # before anything is sent, or it would not count
    return Channel(near, body_limit), far
