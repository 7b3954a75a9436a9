"""Leaves out what needs PyTorch where that is not installed, and says so; ``TORCH=1`` insists on it."""

import importlib.util
import os
from pathlib import Path

import pytest

#: What has this word in its path, or in its name as a test, needs PyTorch.
LAB = "torch_multihead"
HAS_TORCH = importlib.util.find_spec("torch") is not None


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to leave anything out where that was not wanted."""
    if os.environ.get("TORCH") == "1" and not HAS_TORCH:
        raise pytest.UsageError("TORCH=1, but PyTorch is not installed here: make setup TORCH=1")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Without PyTorch the lab's modules cannot even be imported."""
    return True if not HAS_TORCH and LAB in os.path.relpath(collection_path, config.rootpath) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all that is of the lab."""
    for item in items:
        if LAB in item.nodeid:
            item.add_marker("torch")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for all that was left out."""
    if not HAS_TORCH:
        terminalreporter.write_line(
            f"Left out, since PyTorch is not installed: the lab {LAB} (make test TORCH=1 runs it, too)."
        )
