"""Imports that are made once, for all notebooks, in a process that is to have one thread.

A fork takes along the thread that forks and no other: what a lost thread had locked stays locked. So nothing
that is warmed up may leave a thread behind.
"""

import gc
import importlib
import os
import sys
from collections.abc import Iterable

from . import kernel

TASKS = "/proc/self/task"


def warm_up(modules: Iterable[str]) -> None:
    """Import modules; raises RuntimeError where that leaves more than one thread."""
    for name in modules:
        importlib.import_module(name)
    keep_to_one_thread()
    expect_one_thread()


def warm_up_pictures() -> None:
    """Import matplotlib, if it is there, and let its search for fonts be on nobody's account."""
    try:
        importlib.import_module("matplotlib.pyplot")
    except Exception:  # noqa: BLE001 (missing or broken, the notebook that imports it will show why)
        return
    expect_one_thread()
    freeze()


def freeze() -> None:
    """Make forks cheap: no search for garbage copies what is there now, and few tables describe it."""
    gc.collect()
    gc.freeze()
    kernel.use_huge_pages()


def keep_to_one_thread() -> None:
    """PyTorch has threads of its own to set, and sets them once."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)
        torch.set_num_interop_threads(1)


def draw_anew() -> None:
    """Seed generators as a start of Python would: all runs have inherited the same ones."""
    for module, seed in (("numpy.random", "seed"), ("torch", "seed")):
        if module in sys.modules:
            getattr(sys.modules[module], seed)()


def expect_one_thread() -> None:
    """Raise RuntimeError where this process has more."""
    threads = len(os.listdir(TASKS))  # noqa: PTH208 (names are all that is needed)
    if threads > 1:
        raise RuntimeError(
            f"what was imported for all notebooks has left {threads} threads, of which none may fork"
        )
