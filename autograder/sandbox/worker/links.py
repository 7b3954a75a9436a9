"""Reading frames from a blocking socket, on the worker's side."""

import select
import socket
from collections.abc import Callable

from . import wire

CHUNK = 1 << 16
#: How many sockets may travel with one frame.
SOCKETS_LIMIT = 250
#: How often to look after other things while nothing arrives.
LOOK_SECONDS = 0.05


def receive(link: socket.socket, reader: wire.FrameReader) -> wire.Frame | None:
    """The next frame, or None when the judge has hung up."""
    while (frame := reader.frame()) is None:
        data = link.recv(CHUNK)
        if not data:
            return None
        reader.feed(data)
    return frame


def receive_with_sockets(link: socket.socket) -> tuple[wire.Frame, list[socket.socket]] | None:
    """One frame, without a body, and the sockets that travel with it; None when the judge has hung up.

    Reads no byte beyond the frame, so that the sockets of the next one are not lost.
    """
    reader = wire.FrameReader(body_limit=0)
    sockets: list[socket.socket] = []
    while (frame := reader.frame()) is None:
        data, descriptors, _, _ = socket.recv_fds(link, min(reader.missing(), CHUNK), SOCKETS_LIMIT)
        sockets += [socket.socket(fileno=one) for one in descriptors]
        if not data:
            return None
        reader.feed(data)
    return frame, sockets


def wait(link: socket.socket, look: Callable[[], None]) -> None:
    """Wait until something arrives, and call ``look`` again and again meanwhile."""
    waiting = select.poll()
    waiting.register(link, select.POLLIN)
    while not waiting.poll(LOOK_SECONDS * 1000):
        look()
