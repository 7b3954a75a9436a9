"""The environment of the lab on PyTorch, beside that of all others: there it is, here it is not to be had."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.assignments.catalog import KIT
from autograder.assignments.environment import read_environment
from autograder.model import Limits
from autograder.sandbox.choice import Way
from autograder.sandbox.session import ExamineStep

pytestmark = pytest.mark.adversarial

Bench = Any  # tests/conftest.py
IMPORT = "import torch\ntorch.ones(2).sum().item()"
#: By its path, with all that might stand in the way of that taken away, and in a process of its own.
INSIST = """
import os, subprocess, sys
sys.path_hooks[:] = [hook for hook in sys.path_hooks if "finder_for" not in repr(hook)]
sys.path_importer_cache.clear()
sys.path[:0] = {folders!r}
found = [path for path in {folders!r} if os.path.exists(path + "/torch")]
try:
    import torch
    found.append("here")
except ModuleNotFoundError:
    pass
command = [sys.executable, "-c", "import torch; print('there')"]
found += subprocess.run(command, capture_output=True, text=True).stdout.split()
found
"""


@pytest.fixture(scope="module")
def _with_torch(way: Way, make_bench: Any) -> Bench:
    environment, _ = read_environment(KIT / "assignments" / "torch_multihead")
    return make_bench(way, Limits(), environment)


@pytest.fixture
def torch_bench(_with_torch: Bench) -> Iterator[Bench]:
    """A worker with the lab's environment and the usual limits."""
    yield _with_torch
    _with_torch.tidy()


def text(bench: Bench, source: str) -> str:
    return str(bench.outputs(source)[-1]["data"]["text/plain"])


def insist() -> str:
    import torch

    return INSIST.format(folders=[str(Path(torch.__path__[0]).parent)])


def test_there_is_no_pytorch_where_it_is_not_declared(bench: Bench) -> None:
    assert "ModuleNotFoundError" == bench.outputs(IMPORT)[0]["ename"]


def test_there_is_pytorch_where_it_is_declared(torch_bench: Bench) -> None:
    assert "2.0" == text(torch_bench, IMPORT)


def test_who_insists_finds_pytorch_only_without_the_sandbox(bench: Bench, torch_bench: Bench) -> None:
    found = text(bench, insist())
    assert ("[]" == found) == bench.launcher.sandboxed
    assert found.endswith("'here', 'there']") == (not bench.launcher.sandboxed)
    assert text(torch_bench, insist()).endswith("'here', 'there']")


def test_a_forked_network_learns_with_one_thread_within_the_usual_limits(torch_bench: Bench) -> None:
    source = """
import os, torch
from torch import nn
def learn(size):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(size, 4, batch_first=True)
    best = torch.optim.AdamW(layer.parameters())
    x = torch.randn(4, 32, size)
    for _ in range(3):
        best.zero_grad()
        ((layer(x) - x) ** 2).mean().backward()
        best.step()
    return [torch.get_num_threads(), torch.get_num_interop_threads(), len(os.listdir("/proc/self/task"))]
learn(64)
"""
    run = torch_bench.run(source, ExamineStep("it"))
    assert "[1, 1, 1]" == run.outputs[0][-1]["data"]["text/plain"]
    for _ in range(2):
        examination = run.examine("it", torch_bench.budget())
        assert [1, 1, 1] == examination.call("learn", 64).value.fetch()
        examination.close()


def test_a_first_backward_pass_imports_nothing_more(torch_bench: Bench) -> None:
    source = """
import sys, torch
before = set(sys.modules)
torch.ones(2, requires_grad=True).sum().backward()
torch.ones(2, requires_grad=True).mul(2).backward(torch.ones(2))
len(set(sys.modules) - before)
"""
    assert "0" == text(torch_bench, source)


def test_no_two_runs_draw_the_same_random_weights(torch_bench: Bench) -> None:
    drawn = {text(torch_bench, "import torch; torch.rand(3).tolist()") for _ in range(3)}
    assert 3 == len(drawn)


def test_the_interpreter_from_which_all_runs_are_forked_fits_the_usual_limits(torch_bench: Bench) -> None:
    memory = torch_bench.worker.memory_bytes
    assert memory is None or memory < Limits().total_memory_bytes / 4
    size = text(torch_bench, "[line for line in open('/proc/self/status') if line.startswith('VmPeak')]")
    assert int(size.split()[1]) * 1024 < Limits().memory_bytes / 2
