"""The main process of one run: the cells in order, a held fork at the place of each test cell.

Says hello, then reports one frame a step, in order: ``{"step": n}`` with the cell's outputs as JSON in the body, and ``{"done": true}``
at the end. If this process dies, the judge knows from the last frame which step it was in.
"""

import json
import os
import resource
import signal
import socket
import sys
from dataclasses import dataclass
from typing import Any

from . import streams, wire
from .examinee import hold
from .shell import CellCompiler, StudentShell, run_cell


@dataclass(frozen=True)
class Order:
    """What the judge asked for.

    ``steps`` are ``["cell", index, source]`` or ``["examine"]``; ``limits`` are plain numbers by name, of which
    ``processes`` may be missing, where they cannot be counted for one box alone.
    """

    folder: str
    steps: list[list[Any]]
    limits: dict[str, int]
    exceptions: frozenset[str]


def run(shell: StudentShell, order: Order, link: socket.socket, exams: list[socket.socket]) -> None:
    """Run the notebook and end this process."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(order.folder)
    sys.path.insert(0, order.folder)
    apply_limits(order.limits)
    link.sendall(wire.pack({"hello": True}))
    outputs = streams.Outputs(order.limits["output_bytes"])
    shell.outputs = outputs
    descriptors = streams.Descriptors(outputs)
    for number, step in enumerate(order.steps):
        body = b""
        if step[0] == "cell":
            run_cell(shell, step[1], step[2])
            descriptors.collect(order.limits["output_bytes"])
            body = json.dumps(outputs.items, default=str).encode("utf-8", "replace")
        else:
            _fork_held(shell, order, link, exams)
        link.sendall(wire.pack({"step": number}, body))
    link.sendall(wire.pack({"done": True}))


def _fork_held(shell: StudentShell, order: Order, link: socket.socket, exams: list[socket.socket]) -> None:
    exam = exams.pop(0)
    if os.fork() == 0:
        try:
            link.close()
            for later in exams:
                later.close()
            compiler = shell.compile
            cell_of = compiler.cell_of if isinstance(compiler, CellCompiler) else {}
            hold(exam, shell.user_ns, cell_of, order.exceptions)
        finally:
            os._exit(0)
    exam.close()


def apply_limits(limits: dict[str, int]) -> None:
    """Hard limits of the kernel, for this process and all that it starts; they cannot be raised again."""
    wanted = {
        resource.RLIMIT_AS: limits["memory_bytes"],
        resource.RLIMIT_FSIZE: limits["file_bytes"],
        resource.RLIMIT_CPU: limits["notebook_seconds"],
        resource.RLIMIT_NOFILE: 256,
        resource.RLIMIT_CORE: 0,
    }
    if "processes" in limits:
        wanted[resource.RLIMIT_NPROC] = limits["processes"]
    for kind, value in wanted.items():
        _, hard = resource.getrlimit(kind)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
