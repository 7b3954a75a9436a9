"""Takes from a process, before it runs student code, what it does not need for that."""

import contextlib
import errno
import os

from . import kernel, seccomp


def drop_privileges(uid: int | None) -> None:
    """Give up every privilege, for good; become the user ``uid``, where one is given.

    Raises OSError where anything is left, or the kernel refuses.
    """
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    _drop_bounding_set()
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    kernel.drop_capabilities()
    # Until now the process was hidden from its own user; its files in /proc are its own again.
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
    _check_privileges()


def refuse_system_calls() -> None:
    """Install the filter of ``seccomp``; raises OSError where there is none for this machine."""
    kernel.install_filter(seccomp.program())


def be_first_to_go() -> None:
    """Where memory runs out, the kernel is to kill this process, and what it starts, before any other."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123
        file.write("1000")


def _drop_bounding_set() -> None:
    """No program that is executed later may bring capabilities; a process without any cannot do this."""
    number = 0
    try:
        while True:
            kernel.prctl(kernel.PR_CAPBSET_DROP, number)
            number += 1
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EPERM):  # no such capability, no right
            raise


def _check_privileges() -> None:
    with open("/proc/self/status") as file:  # noqa: PTH123 (pathlib is slower)
        status = {name: value.strip() for name, _, value in (line.partition(":") for line in file)}
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        if int(status[name], 16) != 0:
            raise OSError(errno.EPERM, f"capabilities are left: {name} {status[name]}")
    if status["NoNewPrivs"] != "1":
        raise OSError(errno.EPERM, "new privileges could be had")
