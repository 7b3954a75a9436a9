"""What student code reaches from the worker: nothing hidden in memory, no judge, no later run.

The plain launcher keeps nobody from reading files of the machine; that is the sandbox's affair.
"""

import inspect
import os
import secrets
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from autograder.assignments.multihead import checks as hidden
from autograder.sandbox.session import Ending, ExamineStep
from autograder.sandbox.worker.processes import descendants

pytestmark = pytest.mark.adversarial

Bench = Any  # tests/conftest.py
CHUNK = 1 << 24


def memory_holds(pid: int, words: list[str]) -> set[str]:
    """Which of the words stand anywhere in a process's memory."""
    longest = max(map(len, words))
    found: set[str] = set()
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            span, rights, *_ = line.split()
            start, end = (int(number, 16) for number in span.split("-"))
            if "r" not in rights or line.endswith(("[vvar]", "[vsyscall]", "[vvar_vclock]")):
                continue
            tail = b""
            for position in range(start, end, CHUNK):
                memory.seek(position)
                data = tail + (memory.read(min(CHUNK, end - position)) or b"")
                found |= {word for word in words if word.encode() in data}
                tail = data[-longest:]
    return found


def test_no_process_of_a_worker_holds_hidden_checks_and_the_zygote_holds_no_notebook(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = secrets.token_hex(16)
    monkeypatch.setenv("COURSE_SECRET", secret)
    checks = [check for exercise in hidden.checks.exercises for check in hidden.checks.of(exercise)]
    assert len(checks) > 10
    words = [check.sentence for check in checks] + [
        inspect.getsource(check.function)[-60:] for check in checks
    ]
    words += [secret, "autograder.assignments", "CheckFailure"]
    mine = f"a word that only the notebook holds: {secrets.token_hex(16)}"
    run = bench.run(f"marker = '{mine}'\ndef f(): return 1", ExamineStep("it"), "2")
    run.examine("it", bench.budget()).call("f")
    zygote, processes = bench.worker._zygote.pid, bench.processes()
    assert 2 == len(processes)  # the held one and the examined one
    for pid in processes:  # that they hold the notebook is the control
        assert {mine} == memory_holds(pid, [*words, mine])
    for pid in {zygote, *descendants(zygote)} - processes:
        if bench.launcher.sandboxed and os.geteuid() != 0:
            with pytest.raises(PermissionError):  # nobody but root may look: less than the student's code can
                memory_holds(pid, [mine])
        else:
            assert set() == memory_holds(pid, [*words, mine])


def test_control_the_search_finds_what_a_process_holds() -> None:
    words = {secrets.token_hex(16), "autograder.assignments", hidden.checks.of("multihead")[0].sentence}
    assert words == memory_holds(os.getpid(), list(words))


#: Names of modules that the worker has or might import later.
SHADOWED = [
    "numpy",
    "json",
    "socket",
    "struct",
    "gc",
    "traceback",
    "IPython",
    "judge_worker",
    "encodings",
    "wire",
]


def test_control_a_module_of_that_name_in_the_working_folder_is_imported_by_a_plain_interpreter(
    tmp_path: Path,
) -> None:
    (tmp_path / "numpy.py").write_text("print('mine')")
    run = subprocess.run(
        [sys.executable, "-c", "import numpy"], cwd=tmp_path, capture_output=True, check=True
    )
    assert b"mine\n" == run.stdout


def test_files_named_like_modules_of_the_worker_change_nothing(bench: Bench) -> None:
    files = {f"{name}.py": "raise SystemExit('mine')" for name in SHADOWED}
    source = "import numpy as np, json, socket, traceback\ndef f(x):\n  return np.asarray(x) + 1"
    run = bench.run(source, ExamineStep("it"), files=files)
    assert ((), Ending.DONE) == (run.outputs[0], run.ending)
    assert 4 == run.examine("it", bench.budget()).call("f", 3).value


DAEMON = """
    import os, signal, sys, time
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            open("daemon", "w").write(str(os.getpid()))
            time.sleep(30)
        os._exit(0)
    while not os.path.exists("daemon") or not open("daemon").read():
        time.sleep(0.01)
"""


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_control_a_daemon_outlives_the_process_that_started_it(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", textwrap.dedent(DAEMON)], cwd=tmp_path, check=True)
    daemon = int((tmp_path / "daemon").read_text())
    assert is_alive(daemon)
    os.kill(daemon, 9)


@pytest.mark.parametrize("where", ["cell", "call"])
def test_a_daemon_does_not_outlive_its_run(bench: Bench, where: str) -> None:
    source = textwrap.dedent(DAEMON)
    if where == "call":
        source = f"def f():\n{textwrap.indent(source, '    ')}\n    return int(open('daemon').read())"
    run = bench.run(source, "int(open('daemon').read())" if where == "cell" else "0", ExamineStep("it"))
    if where == "call":
        daemon = run.examine("it", bench.budget()).call("f").value
        assert bench.launcher.sandboxed or bench.process(daemon) is not None
    else:
        daemon = int(run.outputs[1][0]["data"]["text/plain"])
    run.close()
    assert bench.process(daemon) is None
    assert bench.launcher.sandboxed or not is_alive(daemon)


def test_processes_that_multiply_without_end_are_gone_after_the_run(strict: Bench) -> None:
    chain = """
        import os, time
        for _ in range(3):
            if os.fork() == 0:
                end = time.monotonic() + 20
                while time.monotonic() < end:
                    os.setsid()
                    if os.fork():
                        os._exit(0)
                os._exit(0)
        time.sleep(0.1)
    """
    run = strict.run(textwrap.dedent(chain), ExamineStep("it"))
    run.close()
    assert [] == descendants(strict.worker._zygote.pid)


def test_a_run_leaves_the_next_one_nothing(bench: Bench) -> None:
    leave = """
        import builtins, os, sys, tempfile
        from pathlib import Path
        builtins.left = sys.left = 1
        os.environ["LEFT"] = "1"
        import numpy; numpy.left = 1
        (Path.home() / "left").touch()
        tempfile.NamedTemporaryFile(prefix="left", delete=False)
        Path("left").touch()
        get_ipython().user_ns["left"] = 1
        sys.modules["left"] = sys
    """
    look = """
        import builtins, os, sys, tempfile, numpy
        from pathlib import Path
        names = [*os.environ, *dir(builtins), *dir(sys), *dir(numpy), *sys.modules, *globals()]
        for folder in (".", Path.home(), tempfile.gettempdir()):
            names += [path.name for path in Path(folder).iterdir()]
        [name for name in names if name.lower().startswith("left") and name != "left_shift"]
    """
    once = bench.outputs(textwrap.dedent(leave) + textwrap.dedent(look))
    assert (
        once[0]["data"]["text/plain"].count("left") >= 7
    )  # the control: the same look finds them in the same run
    assert "[]" == bench.outputs(textwrap.dedent(look))[0]["data"]["text/plain"]
