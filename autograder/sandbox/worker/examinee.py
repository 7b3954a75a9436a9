"""A fork at the place of a test cell: waits, forks again for each examination, and answers calls.

The held process only waits; finalisers and signals that would run the student's code meanwhile are switched
off. It says hello, so that the judge learns its number from the kernel, and takes one order, ``fork``, with
the socket of the new examination. The examined process says hello on that socket and answers one request at a
time, until it is killed or the judge hangs up.

Requests (``do``, with ``values`` and a number, ``turn``, that the answer repeats) and what they bring back as
``{"ok": value}``::

    send       value                           keep an argument: where it is kept, as "remote"
    call       function, args and keywords     a function, by name or handle, or a class: the result
    method     object, name, args and keywords          the result
    item       object, key                              object[key]
    attribute  object, name                             object.name
    set        object, key, value                       object[key] = value: None
    set_attribute  object, name, value                  object.name = value: None
    install    name, source, keep                       a function or class in the student's place: None
    reread     object                                   the object as it is now, as ``call`` would bring it
    fetch      object                                   the same, with dicts and lists copied

or else ``{"raised": name, "cell": index, "line": line}``, ``{"missing": name}``, ``{"memory": true}``.
Names may be dotted: the first is one of the notebook, or of the object, those that follow are attributes.
Results: a plain array is copied and kept under a handle; a tuple, a named one too, is copied item by item;
dicts, lists and everything else stay here as ``remote``.

``install`` is the one request by which an answer enters a student's process: a function or class of the
reference's, as source text, so that what calls it can be judged though the student's own one is wrong. The
judge sends it into no process but one that is killed next, and no sooner than every exercise that it could
answer is judged.
"""

import gc
import os
import signal
import socket
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from . import streams, wire
from .links import receive, receive_with_sockets

#: How many levels of dicts and lists ``fetch`` copies; what lies deeper stays remote.
FETCH_DEPTH = 8
#: Longer tuples stay remote.
TUPLE_LIMIT = 100


def hold(
    link: socket.socket, namespace: dict[str, Any], cell_of: dict[str, int], exceptions: frozenset[str]
) -> None:
    """Wait for the judge and fork for each of its examinations; returns when it hangs up."""
    _stand_still()
    link.sendall(wire.pack({"hello": True}))
    while (order := receive_with_sockets(link)) is not None:
        _, sockets = order
        _bury_dead_forks()
        try:
            forked = os.fork()
        except OSError:  # no more processes: the judge sees the socket close, and may try again
            forked = None
        if forked == 0:
            try:
                link.close()
                gc.enable()
                Examinee(namespace, cell_of, exceptions).serve(sockets[0])
            finally:
                os._exit(0)
        for one in sockets:
            one.close()


def _stand_still() -> None:
    """Switch off what would run the student's code while this process waits and its forks die."""
    gc.disable()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _bury_dead_forks() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


class Examinee:
    """Answers the judge's requests about one namespace."""

    def __init__(self, namespace: dict[str, Any], cell_of: dict[str, int], exceptions: frozenset[str]):
        self._namespace = namespace
        self._cell_of = cell_of
        self._exceptions = exceptions
        self._process = os.getpid()
        self._kept: list[Any] = []
        self._verbs: dict[str, Callable[[dict[str, Any], list[Any]], Any]] = {
            "call": self._call,
            "method": self._method,
            "item": lambda request, values: self._kept[request["object"]][values[0]],
            "attribute": lambda request, values: _look_up(self._kept[request["object"]], request["name"]),
            "set": self._set,
            "set_attribute": self._set_attribute,
            "install": self._install,
            "reread": lambda request, values: self._kept[request["object"]],
            "fetch": lambda request, values: self._kept[request["object"]],
        }

    def serve(self, link: socket.socket) -> None:
        """Say hello, then answer until the judge hangs up."""
        streams.silence()
        reader = wire.FrameReader(body_limit=1 << 34)
        link.sendall(wire.pack({"hello": True}))
        while (frame := receive(link, reader)) is not None:
            answer = self._answer(frame)
            if os.getpid() != self._process:  # the student's code has forked: this one is nobody's
                return
            link.sendall(answer)

    def _answer(self, frame: wire.Frame) -> bytes:
        turn = {"turn": frame.header["turn"]}
        try:
            header, body = self._result(frame)
            return wire.pack(turn | header, body)
        except MemoryError:
            return wire.pack(turn | {"memory": True})
        except BaseException as error:  # noqa: BLE001 (whatever the student's code raises is an answer)
            return wire.pack(turn | self._describe(error))

    def _result(self, frame: wire.Frame) -> tuple[dict[str, Any], bytes]:
        request = frame.header
        values = [self._plain(node) for node in wire.decode_all(request["values"], frame.body)]
        if request["do"] == "send":
            return {"ok": ["remote", "object", self._keep(values[0])]}, b""
        missing = self._missing(request)
        if missing is not None:
            return {"missing": missing}, b""
        result = self._verbs[request["do"]](request, values)
        encoder = wire.Encoder(self._keep)
        spec = self._encode(result, encoder, FETCH_DEPTH if request["do"] == "fetch" else 0)
        return {"ok": spec}, encoder.body

    def _missing(self, request: dict[str, Any]) -> str | None:
        """The name that a request begins with and that the notebook does not have."""
        wanted = request.get("function")
        if request["do"] == "install" and "." in request["name"]:
            wanted = request["name"]
        first = wanted.partition(".")[0] if isinstance(wanted, str) else None
        return first if first is not None and first not in self._namespace else None

    def _named(self, name: str) -> Any:
        first, _, rest = name.partition(".")
        return _look_up(self._namespace[first], rest)

    def _call(self, request: dict[str, Any], values: list[Any]) -> Any:
        function = request["function"]
        target = self._named(function) if isinstance(function, str) else self._kept[function]
        return _apply(target, request, values)

    def _method(self, request: dict[str, Any], values: list[Any]) -> Any:
        return _apply(_look_up(self._kept[request["object"]], request["name"]), request, values)

    def _set(self, request: dict[str, Any], values: list[Any]) -> None:
        key, value = values
        self._kept[request["object"]][key] = value

    def _set_attribute(self, request: dict[str, Any], values: list[Any]) -> None:
        owner, _, last = request["name"].rpartition(".")
        setattr(_look_up(self._kept[request["object"]], owner), last, values[0])

    def _install(self, request: dict[str, Any], values: list[Any]) -> None:
        own: dict[str, Any] = {"np": np, "__name__": "__main__"}
        exec(request["source"], own)  # noqa: S102 (the judge's own text)
        owner, _, name = request["name"].rpartition(".")
        if owner:
            setattr(self._named(owner), name, own[name])
            return
        before = self._namespace.get(name)
        for attribute in request["keep"]:
            if hasattr(before, attribute):
                setattr(own[name], attribute, getattr(before, attribute))
        self._namespace[name] = own[name]

    def _keep(self, value: Any) -> int:
        self._kept.append(value)
        return len(self._kept) - 1

    def _plain(self, node: wire.Node) -> Any:
        value = node.value
        if isinstance(value, wire.RemoteRef):
            return self._kept[value.handle]
        if isinstance(value, tuple | list):
            return type(value)(self._plain(item) for item in value)
        if isinstance(value, dict):
            return {key: self._plain(item) for key, item in value.items()}
        return value

    def _encode(self, value: Any, encoder: wire.Encoder, depth: int) -> list[Any]:
        """As described on top; ``depth`` says how many more levels of dicts and lists are copied."""
        scalar = encoder.scalar(value)
        if scalar is not None:
            return scalar
        if type(value) is np.ndarray:
            try:
                return encoder.array(value)
            except TypeError:
                return ["remote", "object_array" if value.dtype.hasobject else "dtype", self._keep(value)]
        if issubclass(type(value), tuple) and tuple.__len__(value) <= TUPLE_LIMIT:
            items = [self._encode(item, encoder, depth) for item in tuple.__iter__(value)]
            return ["tuple", items, self._keep(value)]
        if depth > 0 and isinstance(value, dict):
            pairs = [
                [key, self._encode(item, encoder, depth - 1)]
                for key, item in dict.items(value)
                if wire.is_key(key)
            ]
            return ["dict", pairs, self._keep(value)]
        if depth > 0 and type(value) is list:
            return ["list", [self._encode(item, encoder, depth - 1) for item in value], self._keep(value)]
        return ["remote", _kind(value), self._keep(value)]

    def _describe(self, error: BaseException) -> dict[str, Any]:
        """The nearest built-in name, and the last line inside a cell of the student's."""
        names = [one.__name__ for one in type(error).__mro__ if one.__name__ in self._exceptions]
        cell = line = None
        for frame, number in traceback.walk_tb(error.__traceback__):
            found = self._cell_of.get(frame.f_code.co_filename)
            if found is not None:
                cell, line = found, number
        return {"raised": names[0] if names else "Exception", "cell": cell, "line": line}


def _look_up(held: Any, path: str) -> Any:
    """What an attribute holds; a dotted path goes on from there, an empty one stays."""
    for one in path.split(".") if path else ():
        held = getattr(held, one)
    return held


def _apply(target: Any, request: dict[str, Any], values: list[Any]) -> Any:
    names = request["keywords"]
    first = len(values) - len(names)
    return target(*values[:first], **dict(zip(names, values[first:], strict=True)))


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return "array_subclass"
    for kind, one in (("dict", dict), ("list", list), ("class", type)):
        if isinstance(value, one):
            return kind
    return "function" if callable(value) else "object"
