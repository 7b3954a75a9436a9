"""The plain launcher: what a worker gets to see of this process, and what stays of it."""

import os
from pathlib import Path
from typing import Any

import pytest

from autograder.sandbox.launcher import PlainLauncher, worker_command, worker_environment

Bench = Any  # tests/conftest.py


def value(bench: Bench, source: str) -> str:
    return str(bench.outputs(source)[-1]["data"]["text/plain"])


def test_the_environment_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "x")
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    environment = worker_environment("/home")
    assert "SECRET" not in environment
    assert ("Haswell", "/home", "1") == (
        environment["OPENBLAS_CORETYPE"],
        environment["HOME"],
        environment["OPENBLAS_NUM_THREADS"],
    )


def test_the_worker_runs_this_interpreter_without_reading_path_files() -> None:
    command = worker_command(
        "/bin/python", {"/lib": frozenset({"b", "a"})}, "/worker", "zygote", "3", "plain"
    )
    assert ["/bin/python", "-S", "-s", "-P", "-B", "-c"] == command[:6]
    assert ["zygote", "/worker", '{"/lib": ["a", "b"]}', "3", "plain"] == command[7:]


def test_a_run_inherits_nothing_but_its_own_descriptors(bench: Bench) -> None:
    descriptor = os.open(__file__, os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    source = "from pathlib import Path\n[str(path.readlink()) for path in Path('/proc/self/fd').iterdir()\n"
    targets = value(bench, source + "if path.is_symlink()]")
    os.close(descriptor)
    assert __file__ not in targets
    assert 1 == targets.count("socket:")


def test_numpy_has_one_thread_and_the_interpreter_too(bench: Bench) -> None:
    source = "import os\nimport numpy as np\n_ = np.ones((300, 300)) @ np.ones((300, 300))\n"
    assert "1" == value(bench, source + "len(os.listdir('/proc/self/task'))")


def test_the_kit_cannot_be_imported(bench: Bench) -> None:
    for name in ("autograder", "autograder.assignments.multihead.checks", "solutions", "multihead"):
        assert "ModuleNotFoundError" == bench.outputs(f"import {name}")[0]["ename"]


def test_the_log_is_short_and_its_folder_goes() -> None:
    launcher = PlainLauncher()
    assert "" == launcher.log()
    (launcher.folder.parent / "log").write_text("a" * 10_000 + "the end")
    assert launcher.log().endswith("aaathe end")
    assert len(launcher.log()) < 3000
    assert str(launcher.folder / "x") == launcher.inside(launcher.folder / "x")
    launcher.close()
    assert not Path(launcher.folder.parent).exists()
