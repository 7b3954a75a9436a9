"""The judge's side of the forks that wait at the places of test cells."""

import socket
from collections.abc import Mapping, Sequence

from autograder.checking.student import StudentCrashed
from autograder.errors import JudgeError
from autograder.sandbox.channel import Channel, ChannelClosed, OutOfTime, TimeLimit, pair
from autograder.sandbox.examination import GREETING_SECONDS, Box, Budget, Examination
from autograder.sandbox.worker import wire
from autograder.sandbox.worker.links import SOCKETS_LIMIT


class HeldForks:
    """One channel for each exercise, and behind it, once the notebook has come so far, a fork that waits."""

    def __init__(self, exercises: Sequence[str], box: Box):
        if len(set(exercises)) < len(exercises) or len(exercises) >= SOCKETS_LIMIT:
            raise JudgeError(
                "the exercises of a run must have names of their own, and there must not be too many"
            )
        self._box = box
        self._examinations: list[Examination] = []
        pairs = {exercise: pair(body_limit=0) for exercise in exercises}
        self._channels = {exercise: channel for exercise, (channel, _) in pairs.items()}
        self._ends = [end for _, end in pairs.values()]

    def hand_over(self) -> list[socket.socket]:
        """The far ends, in the order of the exercises, to be sent and then closed."""
        ends, self._ends = self._ends, []
        return ends

    def greet(self, made: Mapping[str, bool]) -> None:
        """Say hello to the forks of the exercises in ``made``, true where there is one; forget all others."""
        limit = TimeLimit(GREETING_SECONDS)
        for exercise in list(self._channels):
            if exercise not in made:
                self._channels.pop(exercise).close()
            elif made[exercise]:
                self._greet(self._channels[exercise], limit)

    def _greet(self, channel: Channel, limit: TimeLimit) -> None:
        try:
            channel.greet(limit, self._box.zygote.pid)
        except (ChannelClosed, OutOfTime, wire.WireError):
            channel.kill()

    @property
    def exercises(self) -> frozenset[str]:
        """The exercises whose place in the notebook was reached."""
        return frozenset(self._channels)

    @property
    def pids(self) -> frozenset[int]:
        """The processes that wait."""
        return frozenset(channel.peer.pid for channel in self._channels.values() if channel.peer is not None)

    def examine(self, exercise: str, budget: Budget) -> Examination:
        """A fork of the state at an exercise's place; raises a ``StudentFailure`` where there can be none."""
        channel = self._channels.get(exercise)
        if channel is None or channel.peer is None:
            raise StudentCrashed(f"no process waits at the place of {exercise}")
        examination = Examination.start(channel, self._box, budget)
        self._examinations.append(examination)
        return examination

    def close(self) -> None:
        """Kill them all, and all examinations."""
        for examination in self._examinations:
            examination.close()
        for channel in self._channels.values():
            channel.kill()
            channel.close()
        for end in self._ends:
            end.close()
        self._channels, self._examinations, self._ends = {}, [], []
