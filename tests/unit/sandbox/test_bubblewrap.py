"""The sandbox's launcher, with rooms and without; what it keeps from student code is in tests/adversarial."""

import contextlib
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.checking.student import StudentCrashed, StudentMemoryExceeded
from autograder.errors import SandboxError
from autograder.model import Limits
from autograder.sandbox import bubblewrap
from autograder.sandbox.bubblewrap import BubblewrapLauncher, kernel_version, uid_for
from autograder.sandbox.choice import Way
from autograder.sandbox.session import CellStep, Ending, ExamineStep, WorkerLost

Bench = Any  # tests/conftest.py
HERE = ExamineStep("here")
MIB = 1 << 20
LIMITS = Limits(total_memory_bytes=300 * MIB, processes=40, notebook_seconds=20.0, tmp_bytes=8 * MIB)


@pytest.fixture(scope="module", params=[True, False], ids=["rooms", "box"])
def _benches(request: pytest.FixtureRequest, sandbox: Way, make_bench: Any) -> Bench:
    if request.param and sandbox().single_use:
        pytest.skip("this machine allows no rooms")
    return make_bench(Way(lambda: BubblewrapLauncher(rooms=request.param)), LIMITS)


@pytest.fixture
def boxed(_benches: Bench) -> Iterator[Bench]:
    """A worker in the sandbox, with a room for each run, and with a box for each."""
    yield _benches
    _benches.tidy()


@pytest.fixture
def launcher() -> Iterator[BubblewrapLauncher]:
    launcher = BubblewrapLauncher()
    yield launcher
    launcher.close()


def text(outputs: tuple[Any, ...]) -> str:
    return str(outputs[0]["data"]["text/plain"])


def test_a_notebook_runs_and_is_examined(boxed: Bench) -> None:
    run = boxed.run("import numpy as np\ndef f(x): return x + 1", HERE, "f(1)")
    assert (Ending.DONE, "2") == (run.ending, text(run.outputs[2]))
    assert 4 == run.examine("here", boxed.budget()).call("f", 3).value


def test_runs_follow_each_other_and_leave_nothing(boxed: Bench) -> None:
    begin = "from pathlib import Path\nplaces = (Path.home(), Path('/tmp'), Path('/dev/shm'))"
    leave = "for place in places: (place / 'left').touch()"
    look = "[str(path) for place in places for path in place.glob('left')]"
    assert "['~/left', '/tmp/left', '/dev/shm/left']" == text(boxed.outputs(begin, leave, look))
    assert "[]" == text(boxed.outputs(begin, look))


def test_the_files_of_a_run_are_the_students_own_copies(boxed: Bench) -> None:
    run = boxed.run(
        "open('given.py').read()",
        "open('given.py', 'w').write('mine')",
        "import os; [os.stat(path).st_uid == os.getuid() for path in ('.', '..', 'given.py')]",
        "os.getcwd()",
        files={"given.py": "two = 2"},
    )
    shown = [text(run.outputs[number]) for number in (0, 2, 3)]
    assert ["'two = 2'", "[True, True, True]", "'.'"] == shown
    assert ["two = 2"] == [path.read_text() for path in boxed.worker.folder.glob("*/given.py")][-1:]


def test_a_second_run_has_a_warm_worker(boxed: Bench) -> None:
    boxed.run("1")
    before = boxed.worker._zygote.pid
    boxed.run("1")
    assert boxed.launcher.single_use == (before != boxed.worker._zygote.pid)


def test_a_crash_costs_its_own_call_alone(boxed: Bench) -> None:
    run = boxed.run("import os\ndef f(): os._exit(1)\ndef g(): return 1", HERE)
    with pytest.raises(StudentCrashed):
        run.examine("here", boxed.budget()).call("f")
    assert 1 == run.examine("here", boxed.budget()).call("g").value


def test_too_much_memory_ends_a_call_and_a_cell(boxed: Bench) -> None:
    source = """
import os, signal, time
def f():
    for _ in range(4):
        if os.fork() == 0:
            own = bytearray(100 * 2**20)
            own[::4096] = b"1" * len(own[::4096])
            time.sleep(60)
    time.sleep(30)
"""
    run = boxed.run(source, HERE)
    with pytest.raises(StudentMemoryExceeded):
        run.examine("here", boxed.budget()).call("f")
    run = boxed.run(source, "f()", "1")
    assert (Ending.EXCEEDED, 1) == (run.ending, run.stopped_at)


def test_too_many_processes_are_killed_where_the_kernel_does_not_count_them(
    boxed: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BubblewrapLauncher, "counts_processes", False)
    bomb = (
        "import os, time\nfor _ in range(60):\n    if os.fork() == 0:\n        time.sleep(60)\ntime.sleep(30)"
    )
    run = boxed.run("1", bomb)
    assert (Ending.EXCEEDED, 1) == (run.ending, run.stopped_at)


def test_a_home_has_room_for_what_was_given_and_as_much_as_is_allowed(boxed: Bench) -> None:
    folder = Path(tempfile.mkdtemp(dir=boxed.worker.folder))
    folder.chmod(0o755)
    (folder / "large.bin").write_bytes(bytes(20 * MIB))
    source = "import os; os.path.getsize('large.bin') >> 20, open('more', 'wb').write(bytes(7 * 2**20)) >> 20"
    with contextlib.closing(boxed.worker.run(folder, [CellStep(0, source)], {0: 1})) as run:
        assert "(20, 7)" == text(run.outputs[0])


def test_a_lost_zygote_is_a_lost_worker(make_bench: Any, boxed: Bench) -> None:
    bench = make_bench(Way(lambda: BubblewrapLauncher(rooms=not boxed.launcher.single_use)), LIMITS)
    bench.run("1")
    bench.worker._zygote.kill()
    with pytest.raises(WorkerLost):
        bench.tidy()


@pytest.mark.usefixtures("sandbox")
def test_a_box_that_does_not_start_a_second_time_is_a_lost_worker(
    make_bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = make_bench(Way(lambda: BubblewrapLauncher(rooms=False)), LIMITS)
    bench.run("1")
    monkeypatch.setattr("autograder.sandbox.launcher.BOOT", "raise SystemExit('not today')")
    with pytest.raises(WorkerLost, match="not today"):
        bench.run("1")


def test_as_root_the_box_has_the_rights_it_needs_and_no_others(
    launcher: BubblewrapLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bubblewrap, "can_be_another", lambda: True)
    arguments = launcher.arguments(LIMITS, {})
    assert "--unshare-user" not in arguments
    assert ["--cap-drop", "ALL"] == arguments[arguments.index("--cap-drop") :][:2]
    assert {
        "CAP_SYS_ADMIN",
        "CAP_SETPCAP",
        "CAP_SYS_PTRACE",
        "CAP_SETUID",
        "CAP_SETGID",
        "CAP_CHOWN",
        "CAP_KILL",
    } == rights(arguments)


def test_as_an_ordinary_user_the_box_has_users_of_its_own(
    launcher: BubblewrapLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bubblewrap, "can_be_another", lambda: False)
    arguments = launcher.arguments(LIMITS, {})
    assert {"CAP_SYS_ADMIN", "CAP_SETPCAP", "CAP_SYS_PTRACE"} == rights(arguments)
    assert ["--unshare-user", "--uid", "1000", "--gid", "1000"] == [
        *arguments[arguments.index("--unshare-user") :][:5]
    ]


@pytest.mark.parametrize("root", [True, False])
def test_a_box_for_one_run_has_no_right_to_mount(root: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "can_be_another", lambda: root)
    launcher = BubblewrapLauncher(rooms=False)
    assert "CAP_SYS_ADMIN" not in rights(launcher.arguments(LIMITS, {}))
    launcher.close()


def rights(arguments: list[str]) -> set[str]:
    return {arguments[number + 1] for number, word in enumerate(arguments) if word == "--cap-add"}


def test_every_namespace_is_left_and_all_ends_with_the_judge(launcher: BubblewrapLauncher) -> None:
    arguments = launcher.arguments(LIMITS, {})
    for option in ("pid", "net", "ipc", "uts", "cgroup-try"):
        assert f"--unshare-{option}" in arguments
    assert {"--die-with-parent", "--new-session", "--as-pid-1"} <= set(arguments)
    assert ["--remount-ro", "/"] == arguments[arguments.index("--remount-ro") + 2 :][:2]


def test_nothing_of_our_environment_goes_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "x")
    environment = bubblewrap.variables()
    assert "SECRET" not in environment
    assert ("/tmp", "student") == (environment["HOME"], environment["USER"])


def test_a_path_inside_is_below_the_place_of_the_runs(launcher: BubblewrapLauncher) -> None:
    assert "/judge/runs/one" == launcher.inside(launcher.folder / "one")


def test_every_process_has_a_user_of_its_own_far_from_all_others() -> None:
    users = {uid_for(pid) for pid in (1, 2, 1 << 21, (1 << 22) - 1)}
    assert 4 == len(users)
    assert all(0x70000000 < user < 0x78000000 for user in users)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start others as another user")
def test_as_root_student_code_runs_as_that_user(boxed: Bench) -> None:
    shown = text(boxed.outputs("import os; [*os.getresuid(), *os.getresgid(), *os.getgroups()]"))
    uid = boxed.launcher.uid
    assert uid_for(boxed.worker._process.pid) == uid
    assert [str(uid)] * 6 == re.findall(r"\d+", shown)


@pytest.mark.skipif(os.geteuid() == 0, reason="for an ordinary user")
def test_as_an_ordinary_user_student_code_runs_as_nobody_in_particular(boxed: Bench) -> None:
    assert "(1000, 1000)" == text(boxed.outputs("import os; os.getuid(), os.getgid()"))
    assert boxed.launcher.uid is None


@pytest.mark.parametrize(
    ("release", "version"),
    [("6.1.0-18-amd64", (6, 1)), ("5.15.0", (5, 15)), ("odd", (0, 0))],
)
def test_the_kernels_version_is_read(
    release: str, version: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = list(os.uname())
    monkeypatch.setattr(os, "uname", lambda: os.uname_result([*names[:2], release, *names[3:]]))
    assert version == kernel_version()


def test_a_root_who_knows_no_other_users_is_an_ordinary_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(Path, "read_text", lambda path, encoding: "         0       1000          1\n")
    assert not bubblewrap.can_be_another()


def test_the_log_says_why_bubblewrap_failed(monkeypatch: pytest.MonkeyPatch, make_bench: Any) -> None:
    monkeypatch.setattr(bubblewrap, "NAMESPACES", ("--no-such-option",))
    with pytest.raises(SandboxError, match="no-such-option"):
        make_bench(Way(BubblewrapLauncher), LIMITS)
