"""The first process of a room: furnishes it, starts the main process, and watches until it is killed.

It runs no student code and cannot be seen, traced or signalled by any: it is hidden from its own user, has
privileges that they have not, and the kernel keeps every signal from the first process of a namespace that
it does not ask for. When the zygote kills it or ends, the kernel kills everything in the room.
"""

import os
import socket
import traceback
from typing import NoReturn

from . import confinement, room, wire
from .family import Bounds, Family
from .links import receive_with_sockets, wait
from .runner import Order, run
from .shell import StudentShell


def live(link: socket.socket, shell: StudentShell, order: Order, sockets: list[socket.socket]) -> NoReturn:
    """The whole life of a room; answers orders on ``link`` (see ``Family.answer``)."""
    try:
        room.furnish(order.folder, order.uid, order.limits)
        family = start_confined(shell, order, sockets, own=link)
        for one in sockets:
            one.close()
        while True:
            wait(link, family.look)
            received = receive_with_sockets(link)
            if received is None:
                break
            link.sendall(wire.pack(family.answer(received[0].header)))
    except BaseException:  # noqa: BLE001 (the zygote sees this process end, the log says why)
        traceback.print_exc()
    finally:
        os._exit(1)


def start_confined(
    shell: StudentShell, order: Order, sockets: list[socket.socket], own: socket.socket
) -> Family:
    """Start the main process of a run, without privileges, in the room or box in which this one stands.

    ``own`` is this process's socket, closed in the new one.
    """
    link, *exams = sockets

    def main() -> None:
        own.close()
        confinement.drop_privileges(order.uid)
        run(shell, order.at(room.NOTEBOOK, room.HOME, room.SCRATCH), link, exams)

    limits = order.limits
    return Family(main, Bounds(limits["total_memory_bytes"], limits["processes"], limits["notebook_seconds"]))
