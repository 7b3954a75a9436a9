"""The filter of system calls under which student code runs: a list of what is refused.

What reaches beyond the process, loads code into the kernel, makes new namespaces or mounts, or holds memory
that nobody counts, fails with "operation not permitted". The box keeps nearly all of it out by other means,
too: the filter is a second wall, in case the kernel has a hole in the first one.

The program is classic BPF, assembled by hand. Each instruction is a code, two distances to jump and a number.
"""

import errno
import os
import struct

#: In ``struct seccomp_data``: the call's number, the machine's kind, the low half of the first argument.
NUMBER, MACHINE, ARGUMENTS = 0, 4, 16

LOAD, JUMP_EQUAL, JUMP_GREATER_EQUAL, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000
REFUSE = FAIL | errno.EPERM

#: AUDIT_ARCH of each machine, and the column of its numbers below.
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
#: Calls of x86_64's second numbering (x32).
OTHER_NUMBERING = 0x40000000

CLONE, CLONE3 = (56, 220), (435, 435)
SOCKET, IOCTL = (41, 198), (16, 29)
#: New namespaces of every kind: time, mount, cgroup, uts, ipc, user, pid, net.
CLONE_NEW_ANY = 0x7E020080
AF_UNIX = 1
#: Typing for somebody else at a terminal: TIOCSTI, TIOCLINUX.
TERMINAL_REQUESTS = (0x5412, 0x541C)

#: Each with its number on x86_64 and on aarch64; None where there is no such call.
REFUSED: dict[str, tuple[int, int | None]] = {
    # mounts and namespaces
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "unshare": (272, 97),
    "setns": (308, 268),
    # other processes, and files past the view of this one
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # keys, and ways into the kernel that have been misused often
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "personality": (135, 92),
    "modify_ldt": (154, None),
    "fanotify_init": (300, 262),
    # the machine itself
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "iopl": (172, None),
    "ioperm": (173, None),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    # memory that belongs to no process and no file
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
}


def program(machine: str | None = None) -> bytes:
    """The filter for this kind of machine, or the one named; raises OSError where there is none."""
    machine = machine or os.uname().machine
    if machine not in MACHINES:
        raise OSError(errno.ENOSYS, f"there is no filter of system calls for {machine}")
    kind, column = MACHINES[machine]
    parts = [
        _instruction(LOAD, MACHINE),
        _instruction(JUMP_EQUAL, kind, if_true=1),
        _instruction(RETURN, KILL),
        _instruction(LOAD, NUMBER),
    ]
    if machine == "x86_64":
        parts += _refuse_if(JUMP_GREATER_EQUAL, OTHER_NUMBERING)
    for numbers in REFUSED.values():
        number = numbers[column]
        if number is not None:
            parts += _refuse_if(JUMP_EQUAL, number)
    # The C library falls back to ``clone``, whose flags can be seen from here.
    parts += _for_call(CLONE3[column], [_instruction(RETURN, FAIL | errno.ENOSYS)])
    parts += _for_argument(CLONE[column], 0, _refuse_if(JUMP_ANY_BIT, CLONE_NEW_ANY))
    only_unix = [_instruction(JUMP_EQUAL, AF_UNIX, if_true=1), _instruction(RETURN, REFUSE)]
    parts += _for_argument(SOCKET[column], 0, only_unix)
    no_typing = [one for request in TERMINAL_REQUESTS for one in _refuse_if(JUMP_EQUAL, request)]
    parts += _for_argument(IOCTL[column], 1, no_typing)
    return b"".join([*parts, _instruction(RETURN, ALLOW)])


def _instruction(code: int, value: int, *, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _refuse_if(condition: int, value: int) -> list[bytes]:
    return [_instruction(condition, value, if_false=1), _instruction(RETURN, REFUSE)]


def _for_call(number: int, rules: list[bytes]) -> list[bytes]:
    """Rules that all other calls skip."""
    return [_instruction(JUMP_EQUAL, number, if_false=len(rules)), *rules]


def _for_argument(number: int, position: int, rules: list[bytes]) -> list[bytes]:
    """Rules on one argument of a call; if none of them decides, the call is allowed."""
    load = _instruction(LOAD, ARGUMENTS + 8 * position)
    return _for_call(number, [load, *rules, _instruction(RETURN, ALLOW)])
