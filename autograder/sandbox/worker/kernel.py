"""The system calls of the box for which Python has no function of its own.

Each raises OSError, with the call's name, where the kernel refuses.
"""

import ctypes
import os
from typing import Any

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWPID = 0x20000000

MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

SECCOMP_MODE_FILTER = 2
CAPABILITY_VERSION_3 = 0x20080522

MADV_COLLAPSE = 25
HUGE_PAGE_BYTES = 1 << 21

_libc = ctypes.CDLL(None, use_errno=True)
_libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
_libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_libc.mount.argtypes = [*[ctypes.c_char_p] * 3, ctypes.c_ulong, ctypes.c_char_p]


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _CapabilitySets(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def prctl(option: int, value: int = 0) -> None:
    """Change something about this process."""
    _call("prctl", option, value, 0, 0, 0)


def unshare(flags: int) -> None:
    """Leave the namespaces named by ``flags`` for new ones (the one of processes: this one's children)."""
    _call("unshare", flags)


def set_namespace(descriptor: int, flag: int) -> None:
    """Enter the namespace behind a descriptor (the one of processes: this one's children)."""
    _call("setns", descriptor, flag)


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount a file system, or change how one is mounted."""
    _call("mount", source.encode(), target.encode(), kind.encode(), flags, options.encode())


def use_huge_pages() -> None:
    """Have this process's own memory in pages of 2 MiB as far as it goes: a fork copies fewer tables.

    An older kernel, or one that has no room, leaves it as it is.
    """
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123
        areas = [line.split() for line in file]
    for place, rights, _, _, inode, *names in areas:
        if "w" not in rights or inode != "0" or names not in ([], ["[heap]"]):
            continue
        start, end = (int(one, 16) for one in place.split("-"))
        for page in range(-(-start // HUGE_PAGE_BYTES), end // HUGE_PAGE_BYTES):
            _libc.madvise(page * HUGE_PAGE_BYTES, HUGE_PAGE_BYTES, MADV_COLLAPSE)


def drop_capabilities() -> None:
    """Give up all capabilities that this process has or could take."""
    header = _CapabilityHeader(CAPABILITY_VERSION_3, 0)
    none = (_CapabilitySets * 2)()
    _call("capset", ctypes.byref(header), none)


def install_filter(program: bytes) -> None:
    """Submit to a filter of system calls (instructions of 8 bytes each), with all descendants, for good."""
    held = _Program(len(program) // 8, program)
    _call("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(held), 0, 0)


def _call(name: str, *arguments: Any) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
