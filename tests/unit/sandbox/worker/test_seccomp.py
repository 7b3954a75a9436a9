"""The filter of system calls, run by an interpreter of its instructions."""

import errno
import os
import platform
import struct

import pytest

from autograder.sandbox.worker import seccomp

ALLOWED, KILLED = seccomp.ALLOW, seccomp.KILL
REFUSED = seccomp.FAIL | errno.EPERM
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
#: read, execve, futex, clone without namespaces are what every program needs.
NEEDED = {"x86_64": (0, 59, 202, 9, 231), "aarch64": (63, 221, 98, 222, 94)}


def decide(program: bytes, machine: int, number: int, arguments: tuple[int, ...] = ()) -> int:
    """What the kernel would do with a call."""
    full = (*arguments, *(0,) * (6 - len(arguments)))
    data = struct.pack("=IIQ6Q", number, machine, 0, *full)
    accumulator = position = 0
    while True:
        code, if_true, if_false, value = struct.unpack_from("=HBBI", program, 8 * position)
        position += 1
        if code == seccomp.LOAD:
            (accumulator,) = struct.unpack_from("=I", data, value)
        elif code == seccomp.RETURN:
            return int(value)
        else:
            holds = {
                seccomp.JUMP_EQUAL: accumulator == value,
                seccomp.JUMP_GREATER_EQUAL: accumulator >= value,
                seccomp.JUMP_ANY_BIT: accumulator & value != 0,
            }[code]
            position += if_true if holds else if_false


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def outcome(machine: str, number: int, *arguments: int) -> int:
    return decide(seccomp.program(machine), MACHINES[machine], number, arguments)


def test_what_every_program_needs_is_allowed(machine: str) -> None:
    assert {ALLOWED} == {outcome(machine, number) for number in NEEDED[machine]}


@pytest.mark.parametrize("name", seccomp.REFUSED)
def test_what_is_on_the_list_is_refused(machine: str, name: str) -> None:
    number = seccomp.REFUSED[name][list(seccomp.MACHINES).index(machine)]
    if number is not None:
        assert REFUSED == outcome(machine, number)


def test_another_machines_calls_are_deadly(machine: str) -> None:
    assert KILLED == decide(seccomp.program(machine), 0x40000003, 0)


def test_the_second_numbering_of_x86_is_refused() -> None:
    assert REFUSED == outcome("x86_64", 0x40000000 + 39)


@pytest.mark.parametrize(
    "flag", [0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]
)
def test_processes_are_made_without_new_namespaces(machine: str, flag: int) -> None:
    number = seccomp.CLONE[seccomp.MACHINES[machine][1]]
    thread = 0x3D0F00
    assert (ALLOWED, ALLOWED) == (outcome(machine, number, 17), outcome(machine, number, thread))
    assert (REFUSED, REFUSED) == (
        outcome(machine, number, 17 | flag),
        outcome(machine, number, thread | flag),
    )


def test_the_newer_way_of_making_processes_is_missing_so_that_the_older_one_is_taken(machine: str) -> None:
    assert seccomp.FAIL | errno.ENOSYS == outcome(machine, seccomp.CLONE3[0])


@pytest.mark.parametrize("family", [0, 2, 10, 16, 17, 31, 38, 40, 44])
def test_sockets_reach_no_further_than_this_machine(machine: str, family: int) -> None:
    number = seccomp.SOCKET[seccomp.MACHINES[machine][1]]
    assert (ALLOWED, REFUSED) == (outcome(machine, number, 1), outcome(machine, number, family))


def test_nobody_types_for_somebody_else(machine: str) -> None:
    number = seccomp.IOCTL[seccomp.MACHINES[machine][1]]
    window_size = 0x5413
    assert ALLOWED == outcome(machine, number, 0, window_size)
    assert {REFUSED} == {outcome(machine, number, 0, request) for request in (0x5412, 0x541C)}


def test_jumps_stay_in_the_program(machine: str) -> None:
    program = seccomp.program(machine)
    for position in range(len(program) // 8):
        code, if_true, if_false, _ = struct.unpack_from("=HBBI", program, 8 * position)
        if code not in (seccomp.LOAD, seccomp.RETURN):
            assert position + 1 + max(if_true, if_false) < len(program) // 8


def test_there_is_none_for_other_machines() -> None:
    with pytest.raises(OSError, match="riscv64"):
        seccomp.program("riscv64")


@pytest.mark.skipif(platform.machine() not in seccomp.MACHINES, reason="there is no filter for this machine")
def test_the_filter_is_that_of_this_machine() -> None:
    assert seccomp.program(os.uname().machine) == seccomp.program()
