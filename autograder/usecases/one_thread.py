"""Keeps the libraries below NumPy to one thread in programs of which one is started for each core."""

import contextlib
import os
from collections.abc import Iterator

from autograder.sandbox.launcher import ONE_THREAD


@contextlib.contextmanager
def one_thread_each() -> Iterator[None]:
    """Programs that are started in the body have one thread each; this one keeps what it has."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
