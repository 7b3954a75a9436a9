"""Finds out what kind of sandbox this machine allows, or what to do so that it allows one."""

import functools
import json
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from autograder.errors import SandboxError
from autograder.model import Environment, Limits
from autograder.sandbox.bubblewrap import (
    FIRST_UID,
    PROGRAM,
    BubblewrapLauncher,
    can_be_another,
    variables,
)
from autograder.sandbox.worker import seccomp

TRIAL_SECONDS = 30.0
SYSCTL = Path("/proc/sys")
NONE_HERE = "There is no sandbox here, without which no student's code is run."
UNSAFE = (
    "Or grade without a sandbox what you would run on your own account: with --unsafe, or, for nbgrader's "
    "own commands, c.JudgeSubmission.unsafe = True in nbgrader_config.py."
)
INSTALL = "    sudo apt-get install bubblewrap"

#: Ubuntu's own remedy for one program: a profile that allows it what others may not.
PROFILE = (
    r"abi <abi/4.0>,\ninclude <tunables/global>\nprofile bwrap {program} flags=(unconfined) {{ userns, }}\n"
)
APPARMOR = (
    "AppArmor keeps {program} from it, as on Ubuntu since 23.10. Allow it, once, for this program alone:\n"
    f"    printf '{PROFILE}' | sudo tee /etc/apparmor.d/bwrap\n"
    "    sudo apparmor_parser -r /etc/apparmor.d/bwrap"
)
ROOT_ALONE = "The kernel allows it to root alone:\n    sudo sysctl -w kernel.unprivileged_userns_clone=1"
NO_NAMESPACES = "The kernel allows no user namespaces:\n    sudo sysctl -w user.max_user_namespaces=10000"
#: Settings of the kernel's, values that stand in the way, and what to do then.
SETTINGS = (
    ("kernel/apparmor_restrict_unprivileged_userns", "1", APPARMOR),
    ("kernel/unprivileged_userns_clone", "0", ROOT_ALONE),
    ("user/max_user_namespaces", "0", NO_NAMESPACES),
)
CONTAINER = (
    "In a container, start that with --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
    "--security-opt systempaths=unconfined, and --cap-add SYS_ADMIN if it runs as root."
)


@functools.cache
def allows_rooms() -> bool:
    """Whether every run can have a room of its own; False where each needs a whole box.

    Raises SandboxError where there can be no sandbox at all: what is wrong, and what to do.
    """
    _check_machine()
    reasons = []
    for rooms in (True, False):
        reason = _failure(rooms=rooms)
        if reason is None:
            return rooms
        reasons.append(reason)
    raise SandboxError(_explain(reasons[-1]))


def _check_machine() -> None:
    if sys.platform != "linux":
        raise SandboxError(
            f"{NONE_HERE} Grading needs Linux, not {platform.system()}: in a virtual machine, or in WSL on "
            "Windows. Students can work anywhere."
        )
    if platform.machine() not in seccomp.MACHINES:
        known = " and ".join(seccomp.MACHINES)
        raise SandboxError(f"{NONE_HERE} It is made for {known}, not for {platform.machine()}. {UNSAFE}")
    if shutil.which(PROGRAM) is None:
        raise SandboxError(f"{NONE_HERE} The program {PROGRAM} is missing:\n{INSTALL}\n{UNSAFE}")


def _failure(*, rooms: bool) -> str | None:
    """Why that kind of sandbox cannot be had; None where it can.

    Raises SandboxError where neither kind can, for a reason that has nothing to do with the kernel.
    """
    launcher = BubblewrapLauncher(rooms=rooms)
    try:
        user = str(FIRST_UID) if can_be_another() else ""
        done = subprocess.run(
            launcher.command(Limits(), Environment(), "trial", launcher.apart, user),
            env=variables(),
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TRIAL_SECONDS,
            start_new_session=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it did not start within {TRIAL_SECONDS:g} seconds"
    finally:
        launcher.close()
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        return done.stderr.decode("utf-8", "replace").strip()[-500:] or f"it ended with {done.returncode}"
    if found["readable"] is not None and can_be_another():
        raise SandboxError(f"{NONE_HERE} {found['readable']}. {_make_readable()}")
    return next((str(reason) for reason in found.values() if reason is not None), None)


def _make_readable() -> str:
    folders = " ".join(dict.fromkeys([sys.base_prefix, sys.prefix]))
    return (
        "As root, student code runs as a user without rights, who has to read Python and its packages:\n"
        f"    chmod -R go+rX {folders}"
    )


def _explain(reason: str) -> str:
    program = shutil.which(PROGRAM) or PROGRAM
    remedies = [text.format(program=program) for name, bad, text in SETTINGS if _setting(name) == bad]
    return "\n".join(
        [f"{NONE_HERE} {PROGRAM} could not make it: {reason}", *(remedies or [CONTAINER]), UNSAFE]
    )


def _setting(name: str) -> str | None:
    """A setting of the kernel's, or None where it has no such setting."""
    try:
        return (SYSCTL / name).read_text(encoding="ascii").strip()
    except OSError:
        return None
