"""What is imported once for all notebooks: it leaves one thread, and no two runs draw the same numbers."""

import subprocess
import sys
import threading
import types
from pathlib import Path
from typing import Any

import pytest

from autograder.errors import SandboxError
from autograder.model import Environment, Limits
from autograder.sandbox.choice import UNSAFE
from autograder.sandbox.worker import warmth

Bench = Any  # tests/conftest.py


def test_a_module_is_imported_once_for_all_runs(make_bench: Any) -> None:
    bench = make_bench(UNSAFE, Limits(), Environment(warm_up=("colorsys",)))
    source = "import sys; 'colorsys' in sys.modules"
    assert "True" == bench.outputs(source)[0]["data"]["text/plain"]


def test_a_module_that_cannot_be_imported_is_told_before_any_notebook_runs(make_bench: Any) -> None:
    with pytest.raises(SandboxError, match="No module named 'nowhere_to_be_found'"):
        make_bench(UNSAFE, Limits(), Environment(warm_up=("nowhere_to_be_found",)))


def test_a_module_that_leaves_a_thread_is_refused(tmp_path: Path) -> None:
    (tmp_path / "busy.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    )
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
    code += "from autograder.sandbox.worker import warmth\nwarmth.warm_up(['busy'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "RuntimeError: what was imported for all notebooks has left 2 threads" in done.stderr


def test_threads_are_counted_where_they_are() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        with pytest.raises(RuntimeError):
            warmth.expect_one_thread()
    finally:
        done.set()
        thread.join()


def test_pytorch_is_kept_to_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    torch = types.ModuleType("torch")
    torch.set_num_threads = lambda number: told.append(("own", number))  # type: ignore[attr-defined]
    torch.set_num_interop_threads = lambda number: told.append(("between", number))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    warmth.keep_to_one_thread()
    assert [("own", 1), ("between", 1)] == told
