"""An examination: the student's functions, called over a socket, each answer copied and distrusted.

``Examination`` is the socket's side of ``checking.student.Student``; the other end is ``worker/examinee.py``.
One request is outstanding at a time. Whatever comes back that is not an answer to it ends the examination,
and every later request fails in the same way.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from autograder.checking.student import (
    BUILTIN_EXCEPTIONS,
    REMOTE_KINDS,
    StudentCrashed,
    StudentFailure,
    StudentMalformed,
    StudentMemoryExceeded,
    StudentMissing,
    StudentRaised,
    StudentTimedOut,
)
from autograder.model import Limits
from autograder.sandbox.channel import Channel, ChannelClosed, OutOfTime, TimeLimit, pair
from autograder.sandbox.worker import wire
from autograder.sandbox.worker.processes import Process

GREETING_SECONDS = 20.0
#: How long a process may have answered until its CPU time is looked at again.
UNSEEN_SECONDS = 0.02


@dataclass(frozen=True)
class Box:
    """What all examinations of one run have in common.

    ``lines`` gives the number of lines of each cell, ``has_exceeded`` says whether the box has killed
    processes, since it was last asked, because all together used too much.
    """

    zygote: Process
    limits: Limits
    lines: Mapping[int, int]
    has_exceeded: Callable[[], bool]


class Budget:
    """The time that all examinations of one exercise may still use: CPU seconds, and seconds by the clock."""

    def __init__(self, limits: Limits):
        self.cpu_seconds = limits.exercise_seconds
        self.wall_seconds = limits.exercise_seconds * limits.wall_factor

    def use(self, cpu_seconds: float, wall_seconds: float) -> None:
        """Take off what a call has used."""
        self.cpu_seconds -= cpu_seconds
        self.wall_seconds -= wall_seconds

    def check(self) -> None:
        """Raise ``StudentTimedOut`` where nothing is left."""
        if self.cpu_seconds <= 0 or self.wall_seconds <= 0:
            raise StudentTimedOut("the exercise's time is used up", by_clock=self.cpu_seconds > 0)


class Examination:
    """One fork of the student's process under examination; a ``Student``."""

    def __init__(self, channel: Channel, process: Process, box: Box, budget: Budget):
        self._channel = channel
        self._process = process
        self._box = box
        self._limits = box.limits
        self._budget = budget
        self._turn = 0
        self._unseen = 0.0
        self._ended: Callable[[], StudentFailure] | None = None

    @classmethod
    def start(cls, held: Channel, box: Box, budget: Budget) -> "Examination":
        """Fork a held process; raises a ``StudentFailure`` where no fork can be had."""
        budget.check()
        channel, far = pair(box.limits.answer_bytes)
        patience = TimeLimit(min(GREETING_SECONDS, budget.wall_seconds))
        try:
            with far:
                held.send({"do": "fork"}, limit=patience, sockets=[far])
            process = channel.greet(patience, box.zygote.pid, parent=held.peer)
        except (ChannelClosed, OutOfTime, wire.WireError) as error:
            channel.kill()
            channel.close()
            failure = _failure(error, box)
            raise failure() from error
        finally:
            budget.use(0.0, patience.wall_used())
        return cls(channel, process, box, budget)

    @property
    def alive(self) -> bool:
        """Whether further requests can be answered."""
        return self._ended is None

    def call(self, function: str, /, *args: Any, **kwargs: Any) -> "SocketAnswer":
        """Call a function of the notebook by name."""
        request = {"do": "call", "function": function, "keywords": list(kwargs)}
        return self.answer(request, [*args, *kwargs.values()])

    def send(self, value: Any) -> "SocketSent":
        """Hand over an argument, to be looked at again later."""
        if wire.Encoder().scalar(value) is not None:  # it cannot change: nothing to keep
            return SocketSent(self, None, value)
        node = self._request({"do": "send"}, [value])
        if not isinstance(node.value, wire.RemoteRef):
            raise self._end(StudentMalformed)
        return SocketSent(self, node.handle, value)

    def install(self, name: str, source: str, *, keep: Sequence[str] = ()) -> None:
        """Put a function or class of ours in the place of the student's, or a method on the student's class.

        ``checking.follow_through`` says when.
        """
        self._request({"do": "install", "name": name, "source": source, "keep": list(keep)}, [])

    def close(self) -> None:
        """Kill the fork."""
        self._ended = self._ended or StudentCrashed
        self._channel.kill()
        self._channel.close()

    def ask(self, do: str, handle: int, values: list[Any] | None = None, **more: Any) -> Any:
        """A request about one object; what comes back, as a value."""
        return self.value(self._request({"do": do, "object": handle} | more, values or []))

    def value(self, node: wire.Node) -> Any:
        """A decoded answer as checks see it: handles hidden, what stayed behind as ``SocketRemote``."""
        value = node.value
        if isinstance(value, wire.RemoteRef):
            return SocketRemote(self, value)
        if isinstance(value, tuple | list):
            return type(value)(self.value(item) for item in value)
        if isinstance(value, dict):
            return {key: self.value(item) for key, item in value.items()}
        return value

    def answer(self, request: dict[str, Any], values: list[Any]) -> "SocketAnswer":
        """A request that runs code of the student's; what comes back can be looked at again."""
        return SocketAnswer(self, self._request(request, values))

    def _request(self, request: dict[str, Any], values: list[Any]) -> wire.Node:
        if self._ended is not None:
            raise self._ended()
        self._budget.check()
        encoder = wire.Encoder()
        request["values"] = [encode_argument(value, encoder) for value in values]
        frame = self._exchange(request, encoder.body)
        return self._read(frame, nested=request["do"] == "fetch")

    def _exchange(self, request: dict[str, Any], body: bytes) -> wire.Frame:
        cpu = min(self._limits.call_seconds, self._budget.cpu_seconds)
        wall = min(self._limits.call_seconds * self._limits.wall_factor, self._budget.wall_seconds)
        limit = TimeLimit(wall, cpu, self._process)
        self._turn += 1
        try:
            self._channel.send(request | {"turn": self._turn}, body, limit=limit)
            return self._channel.receive(limit)
        except (ChannelClosed, OutOfTime, wire.WireError) as error:
            raise self._end(_failure(error, self._box)) from error
        finally:
            self._spend(limit)

    def _spend(self, limit: TimeLimit) -> None:
        """Take a call's time off the budget; the CPU time of the last few calls may be counted later."""
        wall = limit.wall_used()
        self._unseen += wall
        cpu = 0.0
        if self._unseen > UNSEEN_SECONDS:
            cpu, self._unseen = limit.cpu_used(), 0.0
        self._budget.use(cpu, wall)

    def _read(self, frame: wire.Frame, *, nested: bool) -> wire.Node:
        """The answer in a frame; only if ``nested`` may there be dicts and lists in it."""
        if frame.header.get("turn") != self._turn:
            raise self._end(partial(StudentMalformed, "an answer out of turn"))
        try:
            match frame.header:
                case {"ok": spec}:
                    node = wire.decode(spec, frame.body)
                    _check_kinds(node, nested)
                    return node
                case {"raised": str(name), "cell": cell, "line": line}:
                    known = name if name in BUILTIN_EXCEPTIONS else "Exception"
                    raise StudentRaised(known, *self._place(cell, line))
                case {"missing": str()}:
                    raise StudentMissing
                case {"memory": True}:
                    raise StudentMemoryExceeded
        except wire.WireError as error:
            raise self._end(_failure(error, self._box)) from error
        raise self._end(StudentMalformed)

    def _place(self, cell: Any, line: Any) -> tuple[int | None, int | None]:
        """The place of an error, if there is such a line in the student's notebook."""
        if type(cell) is int and type(line) is int and 1 <= line <= self._box.lines.get(cell, 0):
            return cell, line
        return None, None

    def _end(self, failure: Callable[[], StudentFailure]) -> StudentFailure:
        """No answer can be trusted to belong to a request any more."""
        self._ended = failure
        self._channel.kill()
        return failure()


class SocketAnswer:
    """What one call returned (``checking.student.Answer``)."""

    def __init__(self, examination: Examination, node: wire.Node):
        self._examination = examination
        self._node = node
        self.value: Any = examination.value(node)

    def reread(self) -> Any:
        """The same objects as they are now."""
        if self._node.handle is None or isinstance(self._node.value, wire.RemoteRef):
            return self.value
        return self._examination.ask("reread", self._node.handle)


class SocketSent:
    """An argument on the student's side (``checking.student.Sent``)."""

    def __init__(self, examination: Examination, handle: int | None, value: Any):
        self._examination = examination
        self.handle = handle
        self.sent = value

    def reread(self) -> Any:
        """The argument as it is now."""
        return self.sent if self.handle is None else self._examination.ask("fetch", self.handle)


class SocketRemote:
    """An object that stayed on the student's side (``checking.student.Remote``)."""

    def __init__(self, examination: Examination, ref: wire.RemoteRef):
        self._examination = examination
        self.handle = ref.handle
        self.kind = ref.kind

    def __getitem__(self, key: str | int) -> Any:
        try:
            return self._examination.ask("item", self.handle, [key])
        except StudentRaised as error:
            raise KeyError(key) from error

    def call(self, *args: Any, **kwargs: Any) -> SocketAnswer:
        """Call the object itself."""
        request = {"do": "call", "function": self.handle, "keywords": list(kwargs)}
        return self._examination.answer(request, [*args, *kwargs.values()])

    def __setitem__(self, key: str | int, value: Any) -> None:
        self._examination.ask("set", self.handle, [key, value])

    def attribute(self, name: str) -> Any:
        """An attribute of the object, or, dotted, of what that one holds."""
        return self._examination.ask("attribute", self.handle, name=name)

    def set_attribute(self, name: str, value: Any) -> None:
        """Put an argument in the place of an attribute."""
        self._examination.ask("set_attribute", self.handle, [value], name=name)

    def method(self, name: str, /, *args: Any, **kwargs: Any) -> SocketAnswer:
        """Call a method of the object."""
        request = {"do": "method", "object": self.handle, "name": name, "keywords": list(kwargs)}
        return self._examination.answer(request, [*args, *kwargs.values()])

    def fetch(self) -> Any:
        """A copy of the whole, dicts, lists and tuples included."""
        return self._examination.ask("fetch", self.handle)


def encode_argument(value: Any, encoder: wire.Encoder) -> list[Any]:
    """An argument on its way to the student: plain data, or something that lies there already."""
    if isinstance(value, SocketSent):
        return (
            encode_argument(value.sent, encoder)
            if value.handle is None
            else ["remote", "object", value.handle]
        )
    if isinstance(value, SocketRemote):
        return ["remote", "object", value.handle]
    if type(value) is np.ndarray:
        return encoder.array(value)
    if isinstance(value, tuple | list):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return [kind, [encode_argument(item, encoder) for item in value], None]
    if isinstance(value, dict):
        return ["dict", [[key, encode_argument(item, encoder)] for key, item in value.items()], None]
    scalar = encoder.scalar(value)
    if scalar is None:
        raise TypeError(f"{type(value).__name__} cannot be sent to a student's function")
    return scalar


def _failure(error: ChannelClosed | OutOfTime | wire.WireError, box: Box) -> Callable[[], StudentFailure]:
    """What a broken conversation means for the student; nothing of the error itself is kept alive."""
    match error:
        case OutOfTime():
            return partial(StudentTimedOut, by_clock=error.by_clock)
        case wire.WireError():
            return partial(StudentMalformed, str(error))
    if box.has_exceeded():
        return StudentMemoryExceeded
    return partial(StudentCrashed, str(error))


def _check_kinds(node: wire.Node, nested: bool) -> None:
    value = node.value
    if isinstance(value, wire.RemoteRef) and value.kind not in REMOTE_KINDS:
        raise wire.WireError("no such kind")
    if isinstance(value, dict | list) and not nested:
        raise wire.WireError("dicts and lists cross only when they are asked for")
    if isinstance(value, tuple | list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            _check_kinds(one, nested)
