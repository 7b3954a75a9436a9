"""The floor: what running and asking a notebook costs at the very least on this machine.

A warm process with IPython and NumPy forks; the fork runs the import cell and the four solution cells of the
solved notebook, then answers 60 calls (``multihead`` and ``multihead_backward`` in turn) over a socket, with
raw bytes of arrays. There is no sandbox, no limit, no check, no output and no mercy: nothing that judges can
be cheaper.

    python docs/benchmarks/floor.py --count 50

prints the seconds for each notebook as JSON.
"""

import argparse
import json
import os
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SIZE = struct.Struct("!I")
CALLS = 60
#: The sizes of the hidden checks, all distinct.
B, T, H, D_HEAD = 2, 3, 4, 5
C = H * D_HEAD


def main() -> None:
    """Measure, or be the warm process of a measurement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=50, help="notebooks")
    parser.add_argument("--warm", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.warm is not None:
        serve(socket.socket(fileno=options.warm))
    else:
        sys.stdout.write(json.dumps({"seconds": measure(options.count)}) + "\n")


def measure(count: int) -> float:
    """Seconds for each notebook, one after another, the warm process's start not counted."""
    near, far = socket.socketpair()
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, __file__, "--warm", str(far.fileno())]
    with subprocess.Popen(command, pass_fds=[far.fileno()], env=os.environ | threads) as process:
        far.close()
        try:
            one_notebook(near)
            start = time.perf_counter()
            for _ in range(count):
                one_notebook(near)
            return (time.perf_counter() - start) / count
        finally:
            near.close()
            process.wait(10)


def one_notebook(link: socket.socket) -> None:
    """Let it fork, run and answer, and wait for the end of the fork."""
    _send(link, b"go")
    dy = bytes(8 * B * T * C)
    for number in range(CALLS):
        _send(link, json.dumps({"call": number % 2, "shape": [B, T, C]}).encode() + b"\n" + dy)
        if len(_receive(link)) < len(dy):
            raise RuntimeError("the floor gave no answer")
    _receive(link)


def serve(link: socket.socket) -> None:
    """Fork for each notebook; the fork answers over the same socket."""
    import numpy  # noqa: ICN001, F401, PLC0415 (warm before the first fork)
    from IPython.core.interactiveshell import InteractiveShell  # noqa: PLC0415
    from traitlets.config import Config  # noqa: PLC0415

    os.chdir(ROOT / "source" / "multihead")
    sys.path.insert(0, "")
    cells = solved_cells()
    shell = InteractiveShell.instance(config=Config({"HistoryAccessor": {"enabled": False}}))
    while _receive(link):
        child = os.fork()
        if child == 0:
            answer(link, shell, cells)
            os._exit(0)
        os.waitpid(child, 0)
        _send(link, b"done")


def solved_cells() -> list[str]:
    """The import cell and the solution cells of the source notebook."""
    notebook = json.loads((ROOT / "source" / "multihead" / "multihead.ipynb").read_text(encoding="utf-8"))
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [text for text in code if "import numpy" in text or "BEGIN SOLUTION" in text]


def answer(link: socket.socket, shell: Any, cells: list[str]) -> None:
    """In the fork: run the cells, then answer the calls."""
    import numpy as np  # noqa: PLC0415

    for text in cells:
        shell.run_cell(text, silent=True).raise_error()
    student = shell.user_ns
    rng = np.random.default_rng(0)
    x = rng.standard_normal((B, T, C))
    params = {name: rng.standard_normal((C, C)) for name in ("wq", "wk", "wv", "wo")}
    cache: dict[str, Any] = {}
    for _ in range(CALLS):
        header, _, body = _receive(link).partition(b"\n")
        asked = json.loads(header)
        sent = np.frombuffer(body).reshape(asked["shape"])
        if asked["call"] == 0:
            result, cache = student["multihead"](x + sent, params, H, np.tri(T, dtype=bool))
        else:
            result, _ = student["multihead_backward"](cache, params, sent)
        _send(link, result.tobytes())


def _send(link: socket.socket, data: bytes) -> None:
    link.sendall(SIZE.pack(len(data)) + data)


def _receive(link: socket.socket) -> bytes:
    """One message; empty where the other end hung up."""
    head = link.recv(SIZE.size, socket.MSG_WAITALL)
    return link.recv(SIZE.unpack(head)[0], socket.MSG_WAITALL) if head else b""


if __name__ == "__main__":
    main()
