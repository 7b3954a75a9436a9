"""All that `autograder doctor` tries, as tests: what the sandbox keeps from student code, and the controls.

A probe that finds nothing without the sandbox, either, proves nothing: that it does is the control.
"""

import pytest

from autograder.sandbox.bubblewrap import BubblewrapLauncher
from autograder.sandbox.choice import Way
from autograder.usecases.doctor import Examined, examine_machine

pytestmark = pytest.mark.adversarial

NAMES = [
    "network",
    "files",
    "writing",
    "environment",
    "processes",
    "forks",
    "memory",
    "total memory",
    "disk",
    "many files",
    "uncounted memory",
    "privileges",
    "system calls",
]
#: The kernel's own limit, which works without the sandbox, too.
NO_CONTROL = {"memory"}
#: What a box without rooms cannot keep: its zygote can be seen, though not reached, empty files are free, and
#: the home has room for the largest submission, whatever was handed in.
NOT_IN_A_BOX = {"processes", "many files", "disk"}


@pytest.fixture(scope="module")
def rooms(sandbox: Way) -> Examined:
    return examine_machine(sandbox)


@pytest.fixture(scope="module")
def box(sandbox: Way) -> Examined:
    return examine_machine(Way(lambda: BubblewrapLauncher(rooms=False)))


def found(examined: Examined, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    (finding,) = [one for one in examined.findings if one.name == name]
    return finding.inside, finding.outside


def test_these_are_all_probes(rooms: Examined) -> None:
    assert NAMES == [one.name for one in rooms.findings]


@pytest.mark.parametrize("name", NAMES)
def test_the_sandbox_keeps_it_from_student_code(rooms: Examined, name: str) -> None:
    inside, _ = found(rooms, name)
    assert () == inside


@pytest.mark.parametrize("name", [name for name in NAMES if name not in NO_CONTROL])
def test_control_without_the_sandbox_student_code_has_it(rooms: Examined, name: str) -> None:
    _, outside = found(rooms, name)
    assert outside
    assert "it could not be tried" not in outside


@pytest.mark.parametrize("name", [name for name in NAMES if name not in NOT_IN_A_BOX])
def test_a_box_without_rooms_keeps_it_from_student_code_too(box: Examined, name: str) -> None:
    inside, _ = found(box, name)
    assert () == inside
