"""Chooses, for everything that runs student code, how that is done."""

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from autograder.sandbox.bubblewrap import BubblewrapLauncher
from autograder.sandbox.launcher import Launcher, PlainLauncher
from autograder.sandbox.trial import allows_rooms


@dataclass(frozen=True)
class Way:
    """A way of running student code: call it for a launcher; ``sandboxed`` says whether it is a safe one.

    It can be handed to another process of ours, as long as ``make`` can.
    """

    make: Callable[[], Launcher]
    sandboxed: bool = True

    def __call__(self) -> Launcher:
        """A new launcher."""
        return self.make()


UNSAFE = Way(PlainLauncher, sandboxed=False)


def choose(*, unsafe: bool = False, hidden: Iterable[Path] = ()) -> Way:
    """The sandbox, unless the instructor wants none; ``hidden`` are folders that must not be seen in it.

    The kit's own is one of them. Raises SandboxError, with the remedy, where this machine allows no sandbox.
    """
    if unsafe:
        return UNSAFE
    rooms = allows_rooms()
    concealed = (Path(__file__).parents[2], *hidden)
    return Way(functools.partial(BubblewrapLauncher, rooms=rooms, hidden=concealed))
