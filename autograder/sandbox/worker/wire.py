"""The wire format: frames of a small JSON header and raw bytes, and values in them.

A frame is ``MAGIC``, the header's and the body's length (big-endian, 4 and 8 bytes), the header (one JSON
object) and the body. Values are trees of small JSON lists; the bytes of their arrays follow each other in the
body, in the order of the tree, without gaps. There is no pickle, no type by name, no code.

Both sides use this module; it trusts nothing that it reads. Whatever is not exactly right raises
``WireError``, and no length is believed before its bytes are there.

Values, as JSON::

    ["none"]  ["bool", true]  ["int", 3]  ["float", "0x1.8p+0"]  ["str", "text"]
    ["number", dtype, "the bytes in hex"]        a NumPy scalar
    ["array", dtype, shape, layout, handle]      handle: the far side's number for the object, or null
    ["tuple", [value, ...], handle]  ["list", [value, ...], handle]  ["dict", [[key, value], ...], handle]
    ["remote", kind, handle]                     an object that stays on the student's side
"""

import json
import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

MAGIC = b"AGW1"
PREFIX = struct.Struct("!4sIQ")
HEADER_LIMIT = 1 << 20
TEXT_LIMIT = 1000
DEPTH_LIMIT = 12
NODE_LIMIT = 10_000
DIMENSIONS_LIMIT = 64
LENGTH_LIMIT = 1 << 40
HANDLE_LIMIT = 1 << 31
INT_LIMIT = 1 << 63

#: The dtypes that cross, as NumPy writes them (little-endian).
DTYPES = frozenset(
    ["|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f4", "<f8", "<c8", "<c16"]
)
#: How an array lies in memory on the student's side: its own strides are part of what is tested.
LAYOUTS = frozenset(["C", "F", "strided"])
KIND_LIMIT = 20
#: The types of NumPy scalars that cross, not their subclasses; two types of C may be one dtype of ours.
SCALARS = frozenset(np.dtype(code).type for code in "?bhilqBHILQfdFD")


class WireError(Exception):
    """The bytes are not in the wire format, or larger than allowed."""


@dataclass(frozen=True)
class Frame:
    """One message."""

    header: dict[str, Any]
    body: bytes = b""


@dataclass(frozen=True)
class RemoteRef:
    """An object of the student's that did not cross: its kind, and the handle by which to name it.

    The wire carries any short word as a kind; the judge knows which ones there are.
    """

    kind: str
    handle: int


@dataclass(frozen=True)
class Node:
    """A decoded value, which for a container holds the nodes inside; ``handle`` names the object itself."""

    value: Any
    handle: int | None = None


def pack(header: dict[str, Any], body: bytes = b"") -> bytes:
    """The bytes of a frame."""
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    return PREFIX.pack(MAGIC, len(text), len(body)) + text + body


class FrameReader:
    """Cuts a stream of bytes into frames; takes no frame whose body is above ``body_limit``."""

    def __init__(self, body_limit: int):
        self.body_limit = body_limit
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        """Take in what has arrived."""
        self._buffer += data
        self._lengths()

    def missing(self) -> int:
        """How many bytes the current frame still lacks: what to read next."""
        lengths = self._lengths()
        whole = PREFIX.size + sum(lengths) if lengths else PREFIX.size
        return max(0, whole - len(self._buffer))

    def frame(self) -> Frame | None:
        """The next whole frame, or None if more bytes are needed."""
        lengths = self._lengths()
        if lengths is None or len(self._buffer) < PREFIX.size + sum(lengths):
            return None
        start, middle = PREFIX.size, PREFIX.size + lengths[0]
        header = _parse_header(bytes(self._buffer[start:middle]))
        body = bytes(self._buffer[middle : middle + lengths[1]])
        del self._buffer[: middle + lengths[1]]
        return Frame(header, body)

    def _lengths(self) -> tuple[int, int] | None:
        if len(self._buffer) < PREFIX.size:
            return None
        magic, header, body = PREFIX.unpack_from(self._buffer)
        if magic != MAGIC:
            raise WireError("not a frame")
        if header > HEADER_LIMIT or body > self.body_limit:
            raise WireError("frame too large")
        return header, body


def _parse_header(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise WireError("the header is not JSON") from error
    if not isinstance(header, dict):
        raise WireError("the header is not a JSON object")
    return header


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


class Encoder:
    """Turns values into their JSON form and collects the bytes of their arrays."""

    def __init__(self, handle_of: Callable[[Any], int | None] = lambda value: None):
        self._handle_of = handle_of
        self._parts: list[bytes] = []

    @property
    def body(self) -> bytes:
        """The arrays' bytes so far."""
        return b"".join(self._parts)

    def array(self, array: np.ndarray) -> list[Any]:
        """An exact ndarray of one of ``DTYPES``; anything else raises TypeError."""
        dtype = array.dtype
        if dtype.type not in SCALARS:
            raise TypeError(f"arrays of dtype {dtype} do not cross")
        plain = array.astype(dtype.newbyteorder("<"), copy=False)
        layout = "C" if array.flags.c_contiguous else "F" if array.flags.f_contiguous else "strided"
        self._parts.append(plain.tobytes("F" if layout == "F" else "C"))
        return ["array", plain.dtype.str, list(plain.shape), layout, self._handle_of(array)]

    def scalar(self, value: Any) -> list[Any] | None:
        """None, a bool, number, NumPy scalar or short text, each of that very type; else None."""
        if type(value) in SCALARS:
            plain = np.asarray(value).astype(value.dtype.newbyteorder("<"))
            return ["number", plain.dtype.str, plain.tobytes().hex()]
        if value is None:
            return ["none"]
        if type(value) is bool:
            return ["bool", value]
        if _is_int(value):
            return ["int", value]
        if type(value) is float:
            return ["float", value.hex()]
        if type(value) is str and _is_text(value):
            return ["str", value]
        return None


def decode(spec: Any, body: bytes) -> Node:
    """An answer from its JSON form and the frame's body, all of which must be used up."""
    reader = _Reader(body, NODE_LIMIT)
    node = reader.node(spec, 0)
    reader.finish()
    return node


def decode_all(specs: Any, body: bytes) -> list[Node]:
    """A request's values, which share one body; how many they are, the header's size alone limits."""
    if not isinstance(specs, list):
        raise WireError("values must be a list")
    reader = _Reader(body, HEADER_LIMIT)
    nodes = [reader.node(spec, 0) for spec in specs]
    reader.finish()
    return nodes


class _Reader:
    """One pass over a tree and its bytes."""

    def __init__(self, body: bytes, node_limit: int):
        self._body = memoryview(body)
        self._position = 0
        self._nodes_left = node_limit

    def finish(self) -> None:
        if self._position != len(self._body):
            raise WireError("bytes left over behind the arrays")

    def node(self, spec: Any, depth: int) -> Node:
        self._nodes_left -= 1
        if self._nodes_left < 0 or depth > DEPTH_LIMIT:
            raise WireError("the value is nested too deeply or has too many parts")
        match spec:
            case ["array", str(dtype), list(shape), str(layout), handle]:
                return Node(self._array(dtype, shape, layout), _handle(handle))
            case ["tuple", list(items), handle]:
                return Node(tuple(self._each(items, depth)), _handle(handle))
            case ["list", list(items), handle]:
                return Node(list(self._each(items, depth)), _handle(handle))
            case ["dict", list(items), handle]:
                return Node(self._dict(items, depth), _handle(handle))
            case ["remote", str(kind), int(number)] if kind.isidentifier() and len(kind) <= KIND_LIMIT:
                handle = _handle(number)
                assert handle is not None
                return Node(RemoteRef(kind, handle), handle)
        return Node(_scalar(spec))

    def _each(self, items: list[Any], depth: int) -> Iterator[Node]:
        return (self.node(item, depth + 1) for item in items)

    def _dict(self, items: list[Any], depth: int) -> dict[str | int, Node]:
        out: dict[str | int, Node] = {}
        for item in items:
            match item:
                case [key, value] if is_key(key) and key not in out:
                    out[key] = self.node(value, depth + 1)
                case _:
                    raise WireError("not a dict item")
        return out

    def _array(self, dtype: str, shape: list[Any], layout: str) -> np.ndarray:
        if dtype not in DTYPES or layout not in LAYOUTS or len(shape) > DIMENSIONS_LIMIT:
            raise WireError("not an array that may cross")
        for length in shape:
            if type(length) is not int or not 0 <= length <= LENGTH_LIMIT:
                raise WireError("not a shape")
        kind = np.dtype(dtype)
        size = math.prod(shape) * kind.itemsize
        if size > len(self._body) - self._position:
            raise WireError("the array's bytes are missing")
        raw = bytearray(self._body[self._position : self._position + size])
        self._position += size
        if dtype == "|b1" and raw.strip(b"\x00\x01"):
            raise WireError("a boolean is neither 0 nor 1")
        return _layout(np.frombuffer(raw, kind), tuple(shape), layout)


def is_key(value: Any) -> bool:
    """Whether a dict's item under that key can cross: a plain int, or a short text."""
    return _is_int(value) or (type(value) is str and _is_text(value))


def _is_int(value: Any) -> bool:
    return type(value) is int and -INT_LIMIT <= value < INT_LIMIT


def _is_text(value: str) -> bool:
    return len(value) <= TEXT_LIMIT and value.isprintable()


def _scalar(spec: Any) -> Any:
    match spec:
        case ["none"]:
            return None
        case ["bool", bool(value)]:
            return value
        case ["int", value] if _is_int(value):
            return value
        case ["float", str(text)] if len(text) <= 40:
            return _float(text)
        case ["str", str(text)] if _is_text(text):
            return text
        case ["number", str(dtype), str(text)] if dtype in DTYPES and len(text) <= 32:
            return _number(dtype, text)
    raise WireError("not a value")


def _layout(flat: np.ndarray, shape: tuple[int, ...], layout: str) -> np.ndarray:
    """Arrange the elements as they lay in memory on the other side."""
    try:
        if layout != "strided":
            return flat.reshape(shape, order="F" if layout == "F" else "C")
        array = flat.reshape(shape)
        apart = np.zeros((*shape[:-1], 2 * shape[-1]), flat.dtype)[..., ::2] if shape else array
    except (ValueError, MemoryError) as error:
        raise WireError("not a shape") from error
    if shape:
        apart[...] = array
    return apart


def _float(text: str) -> float:
    try:
        return float.fromhex(text)
    except (ValueError, OverflowError) as error:
        raise WireError("not a number") from error


def _number(dtype: str, text: str) -> np.generic:
    try:
        raw = bytes.fromhex(text)
        (number,) = np.frombuffer(raw, dtype)
    except ValueError as error:
        raise WireError("not a number") from error
    if dtype == "|b1" and raw not in (b"\x00", b"\x01"):
        raise WireError("a boolean is neither 0 nor 1")
    assert isinstance(number, np.generic)
    return number


def _handle(value: Any) -> int | None:
    if value is None:
        return None
    if type(value) is not int or not 0 <= value < HANDLE_LIMIT:
        raise WireError("not a handle")
    return value
