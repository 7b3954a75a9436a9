"""Tries, with nothing of a student's, all that a run needs of the kernel and of the box.

Prints one JSON object: {"room": why no room can be made, "confined": why nothing can be confined in it,
"readable": what cannot be read then}, each null where all is well, or not tried because of what is before.
"""

import importlib.util
import json
import os
import sys
from collections.abc import Callable
from typing import NoReturn

from . import confinement, room
from .room import Door

#: Enough for an empty folder.
LIMITS = {"tmp_bytes": 1 << 20, "tmp_files": 100}
#: What every notebook imports.
PACKAGES = ("numpy", "IPython", "traitlets")


def main(apart: str, uid: str) -> None:
    """Try it, in a room if it is to be ``rooms``, as that user if there is one."""
    found: dict[str, str | None] = dict.fromkeys(("room", "confined", "readable"))
    user = int(uid) if uid else None
    receive, send = os.pipe()

    def first() -> NoReturn:
        os.close(receive)
        failed = _first_failure(apart, user)
        if failed is not None:
            os.write(send, json.dumps(failed).encode())
        os._exit(0)

    try:
        pid = Door().fork_into(first) if apart == "rooms" else _fork(first)
    except OSError as error:
        found["room"] = str(error)
    else:
        os.close(send)
        with os.fdopen(receive, "rb") as pipe:
            report = pipe.read()
        os.waitpid(pid, 0)
        if report:
            step, reason = json.loads(report)
            found[step] = reason
    sys.stdout.write(json.dumps(found))


def _fork(first: Callable[[], NoReturn]) -> int:
    pid = os.fork()
    if pid == 0:
        first()
    return pid


def _first_failure(apart: str, uid: int | None) -> tuple[str, str] | None:
    def prepare() -> None:
        if apart == "rooms":
            room.furnish(room.RUNS, uid, LIMITS)
        else:
            room.lay(room.RUNS, uid)

    def confine() -> None:
        confinement.drop_privileges(uid)
        confinement.refuse_system_calls()

    for name, step in (("room", prepare), ("confined", confine), ("readable", _read)):
        try:
            step()
        except Exception as error:  # noqa: BLE001 (whatever it is, the judge has to know)
            return name, f"{error}" if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
    return None


def _read() -> None:
    """Open the interpreter, and a file of each package that every notebook imports."""
    paths = [sys.executable]
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(f"{name} is not installed")
        paths.append(spec.origin)
    for path in paths:
        with open(path, "rb") as file:  # noqa: PTH123 (as short as it gets)
            file.read(1)
