"""A fork at the place of a test cell: waits, forks again for each examination, and answers calls.

The held process runs no code of the student's after its fork. It takes one order, ``fork``, with the socket of the
new examination. The examined process answers one request at a time, on its own socket, until it is killed or
the judge hangs up.

Requests (``do``) and what they bring back as ``{"ok": value}``::

    send       value              keep an argument                        -> its handle
    call       function, args, kwargs    by name or handle; a class is constructed   -> the result
    method     object, name, args, kwargs                                 -> the result
    item       object, key        object[key]                             -> the item
    attribute  object, name                                               -> the attribute
    set        object, key, value        object[key] = value              -> None
    install    name, source       put a function in the place of the student's -> None
    reread     object             the object as it is now                 -> as ``call`` would bring it
    fetch      object             with dicts and lists copied whole       -> the object

or else ``{"raised": name, "cell": index, "line": line}``, ``{"missing": name}``, ``{"memory": true}``.
Results: a plain array is copied and kept under a handle; a tuple, a named one too, is copied item by
item; dicts, lists and everything else stay here as ``remote``.

``install`` is the one request by which an answer enters a student's process: a function of the
reference's, as source text, so that what calls it can be judged though the student's own one is wrong. The
judge sends it into no process but one that is killed next, and no sooner than every exercise that it could
answer is judged.
"""

import os
import socket
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
    while True:
        order = receive_with_sockets(link)
        if order is None:
            return
        _, sockets = order
        if os.fork() == 0:
            try:
                link.close()
                Examinee(namespace, cell_of, exceptions).serve(sockets[0])
            finally:
                os._exit(0)
        for one in sockets:
            one.close()


class Examinee:
    """Answers the judge's requests about one namespace."""

    def __init__(self, namespace: dict[str, Any], cell_of: dict[str, int], exceptions: frozenset[str]):
        self._namespace = namespace
        self._cell_of = cell_of
        self._exceptions = exceptions
        self._kept: list[Any] = []
        self._verbs: dict[str, Callable[[dict[str, Any], list[wire.Node]], Any]] = {
            "send": self._send,
            "call": self._call,
            "method": self._method,
            "item": lambda request, values: self._find(request["object"])[values[0].value],
            "attribute": lambda request, values: getattr(self._find(request["object"]), request["name"]),
            "set": self._set,
            "install": self._install,
            "reread": lambda request, values: self._find(request["object"]),
            "fetch": lambda request, values: self._find(request["object"]),
        }

    def serve(self, link: socket.socket) -> None:
        """Say hello, then answer until the judge hangs up."""
        streams.silence()
        reader = wire.FrameReader(body_limit=1 << 34)
        link.sendall(wire.pack({"hello": True}))
        while (frame := receive(link, reader)) is not None:
            link.sendall(self._answer(frame))

    def _answer(self, frame: wire.Frame) -> bytes:
        request = frame.header
        encoder = wire.Encoder(self._keep)
        try:
            values = wire.decode_all(request.get("values", []), frame.body)
            function = request.get("function")
            if request["do"] == "call" and isinstance(function, str) and function not in self._namespace:
                return wire.pack({"missing": function})
            result = self._verbs[request["do"]](request, values)
            depth = FETCH_DEPTH if request["do"] == "fetch" else 0
            return wire.pack({"ok": self._encode(result, encoder, depth)}, encoder.body)
        except MemoryError:
            return wire.pack({"memory": True})
        except BaseException as error:
            return wire.pack(self._describe(error))

    def _send(self, request: dict[str, Any], values: list[wire.Node]) -> Any:
        return self._plain(values[0])

    def _call(self, request: dict[str, Any], values: list[wire.Node]) -> Any:
        function = request["function"]
        target = self._namespace[function] if isinstance(function, str) else self._kept[function]
        return self._apply(target, request, values)

    def _method(self, request: dict[str, Any], values: list[wire.Node]) -> Any:
        return self._apply(getattr(self._find(request["object"]), request["name"]), request, values)

    def _apply(self, target: Any, request: dict[str, Any], values: list[wire.Node]) -> Any:
        names = request.get("keywords", [])
        plain = [self._plain(node) for node in values]
        first = len(plain) - len(names)
        return target(*plain[:first], **dict(zip(names, plain[first:], strict=True)))

    def _set(self, request: dict[str, Any], values: list[wire.Node]) -> None:
        key, value = (self._plain(node) for node in values)
        self._find(request["object"])[key] = value

    def _install(self, request: dict[str, Any], values: list[wire.Node]) -> None:
        own: dict[str, Any] = {"np": np}
        exec(request["source"], own)  # noqa: S102 (the judge's own text)
        self._namespace[request["name"]] = own[request["name"]]

    def _find(self, handle: int) -> Any:
        return self._kept[handle]

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
                [key, self._encode(item, encoder, depth - 1)] for key, item in value.items() if _is_key(key)
            ]
            return ["dict", pairs, self._keep(value)]
        if depth > 0 and type(value) is list:
            return ["list", [self._encode(item, encoder, depth - 1) for item in value], self._keep(value)]
        return ["remote", _kind(value), self._keep(value)]

    def _describe(self, error: BaseException) -> dict[str, Any]:
        """The nearest built-in name, and the last line inside a cell of the student's."""
        names = [one.__name__ for one in type(error).__mro__ if one.__name__ in self._exceptions]
        cell = line = None
        trace = error.__traceback__
        while trace is not None:
            found = self._cell_of.get(trace.tb_frame.f_code.co_filename)
            if found is not None:
                cell, line = found, trace.tb_lineno
            trace = trace.tb_next
        return {"raised": names[0] if names else "Exception", "cell": cell, "line": line}


def _is_key(key: Any) -> bool:
    return type(key) is int or (type(key) is str and len(key) <= wire.TEXT_LIMIT)


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return "array_subclass"
    for kind, one in (("dict", dict), ("list", list), ("class", type)):
        if isinstance(value, one):
            return kind
    return "function" if callable(value) else "object"
