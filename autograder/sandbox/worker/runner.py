"""The main process of one run: the cells in order, a held fork at the place of each test cell.

Reads the steps, as JSON in the body of one frame (not from the zygote, whose memory all runs inherit). Says
hello when all is ready for the student's code, and waits for a frame more: by then the judge holds this
process, which may be gone a moment later. Then reports one frame a step, in order: ``{"step": n}`` with the
cell's outputs as JSON in the body, or ``{"step": n, "held": true}`` for a fork, false where none could be
made. If this process dies, the judge knows from the last report which step it was in.
"""

import json
import os
import resource
import signal
import socket
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from . import confinement, streams, warmth, wire
from .examinee import hold
from .links import receive
from .shell import CellCompiler, StudentShell, run_cell


@dataclass(frozen=True)
class Order:
    """What the judge asked for.

    ``folder`` holds the notebook's files, ``home`` and ``scratch`` are for whatever else its code may write.
    ``limits`` are plain numbers by name, ``uid`` is the user to become, if another than the zygote's own.
    ``confined`` says whether system calls are filtered, ``counted`` whether a limit on the number of
    processes counts those of the box alone, so that the kernel can enforce it.
    """

    folder: str
    home: str
    scratch: str
    limits: dict[str, int]
    exceptions: frozenset[str]
    uid: int | None
    confined: bool
    counted: bool

    def at(self, folder: str, home: str, scratch: str) -> "Order":
        """The same order, with its files elsewhere."""
        return replace(self, folder=folder, home=home, scratch=scratch)


def parse(header: dict[str, Any], *, confined: bool) -> Order:
    """The order in a frame's header."""
    return Order(
        folder=header["folder"],
        home=header["home"],
        scratch=f"{header['home']}/tmp",
        limits=header["limits"],
        exceptions=frozenset(header["exceptions"]),
        uid=header["uid"],
        confined=confined,
        counted=header["counted"],
    )


def run(shell: StudentShell, order: Order, link: socket.socket, exams: list[socket.socket]) -> None:
    """Run the notebook to its end: steps are ``["cell", index, source]`` or ``["examine"]``."""
    reader = wire.FrameReader(body_limit=1 << 30)
    script = receive(link, reader)
    if script is None:
        return
    settle(order)
    shell.user_ns["_dh"] = [order.folder]
    outputs = shell.outputs = streams.Outputs(order.limits["output_bytes"])
    descriptors = streams.Descriptors(outputs)
    if order.confined:
        confinement.refuse_system_calls()
    link.sendall(wire.pack({"hello": True}))
    if receive(link, reader) is None:
        return
    own = os.getpid()
    for number, step in enumerate(json.loads(script.body)):
        report: dict[str, Any] = {"step": number}
        body = b""
        if step[0] == "cell":
            run_cell(shell, step[1], step[2])
            if os.getpid() != own:  # the cell has forked, and this is the child, which has come to its end
                return
            descriptors.collect(order.limits["output_bytes"])
            body = outputs.collect()
        else:
            report["held"] = _fork_held(shell, order, link, exams)
        link.sendall(wire.pack(report, body))


def settle(order: Order) -> None:
    """Make this process the notebook's: its folders, its limits, a session of its own."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(order.folder)
    sys.path.insert(0, "")
    Path(order.scratch).mkdir(exist_ok=True)
    os.environ.update(
        HOME=order.home,
        TMPDIR=order.scratch,
        IPYTHONDIR=f"{order.home}/.ipython",
        MPLCONFIGDIR=f"{order.home}/.matplotlib",
    )
    warmth.draw_anew()
    confinement.be_first_to_go()
    apply_limits(order.limits, counted=order.counted)


def apply_limits(limits: dict[str, int], *, counted: bool) -> None:
    """Hard limits of the kernel, for this process and all that it starts; they cannot be raised again."""
    wanted = {
        resource.RLIMIT_AS: limits["memory_bytes"],
        resource.RLIMIT_FSIZE: limits["file_bytes"],
        resource.RLIMIT_CPU: limits["notebook_seconds"],
        resource.RLIMIT_NOFILE: limits["open_files"],
        resource.RLIMIT_CORE: 0,
    }
    if counted:
        wanted[resource.RLIMIT_NPROC] = limits["processes"]
    for kind, value in wanted.items():
        _, hard = resource.getrlimit(kind)
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (allowed, allowed))


def _fork_held(shell: StudentShell, order: Order, link: socket.socket, exams: list[socket.socket]) -> bool:
    """Leave a fork behind that waits to be examined; says whether there could be one."""
    exam = exams.pop(0)
    try:
        forked = os.fork()
    except OSError:  # too many processes, or too little memory
        exam.close()
        return False
    if forked == 0:
        try:
            link.close()
            for later in exams:
                later.close()
            hold(exam, shell.user_ns, cast(CellCompiler, shell.compile).cell_of, order.exceptions)
        finally:
            os._exit(0)
    exam.close()
    return True
