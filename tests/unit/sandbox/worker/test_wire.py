"""The wire format: what goes in comes out, and nothing else is believed."""

import json
import math
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.sandbox.worker import wire
from autograder.sandbox.worker.wire import Encoder, Frame, FrameReader, Node, RemoteRef, WireError

DTYPES = sorted(wire.DTYPES)
BODY_LIMIT = 10_000

integers = st.integers(-(2**63), 2**63 - 1)
texts = st.text(st.characters(min_codepoint=32, exclude_categories=["C", "Z"]) | st.just(" "), max_size=50)
floats = st.floats(allow_nan=False) | st.just(math.nan)
scalars = st.none() | st.booleans() | integers | floats | texts
dtypes = st.sampled_from(DTYPES).map(np.dtype)
numpy_scalars = dtypes.flatmap(lambda dtype: hnp.arrays(dtype, ())).map(lambda array: array[()])
shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
arrays = hnp.arrays(dtypes, shapes)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
    max_leaves=30,
)
#: Lists that look like values but mostly are none.
near_values = st.recursive(
    st.tuples(
        st.sampled_from(
            ["none", "bool", "int", "float", "str", "number", "array", "tuple", "dict", "remote"]
        ),
        st.lists(json_values | st.sampled_from([*DTYPES, "C", "F", "strided", 0, 1, 2**40]), max_size=4),
    ).map(lambda pair: [pair[0], *pair[1]]),
    lambda inner: st.tuples(st.sampled_from(["tuple", "list", "dict"]), st.lists(inner, max_size=4)).map(
        lambda pair: [pair[0], pair[1], None]
    ),
    max_leaves=20,
)


def layouts(array: np.ndarray) -> list[np.ndarray]:
    """The array as it lies, in Fortran's order, and with gaps."""
    apart = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)[..., ::2] if array.ndim else array
    apart[...] = array
    return [array, np.asfortranarray(array), apart]


def layout_of(array: np.ndarray) -> str:
    return "C" if array.flags.c_contiguous else "F" if array.flags.f_contiguous else "strided"


def same_bits(one: Any, other: Any) -> bool:
    return type(one) is type(other) and np.asarray(one).tobytes() == np.asarray(other).tobytes()


def crossed(spec: Any, body: bytes = b"") -> Node:
    """A value after its way over the wire."""
    reader = FrameReader(BODY_LIMIT * 100)
    reader.feed(wire.pack({"ok": spec}, body))
    frame = reader.frame()
    assert frame is not None
    return wire.decode(frame.header["ok"], frame.body)


@given(scalars | numpy_scalars)
def test_a_scalar_arrives_with_its_own_type_and_every_bit(value: Any) -> None:
    arrived = crossed(Encoder().scalar(value)).value
    assert value is arrived or same_bits(value, arrived)


@given(arrays, st.integers(0, 2))
def test_an_array_arrives_with_dtype_shape_layout_and_every_bit(array: np.ndarray, layout: int) -> None:
    sent = layouts(array)[layout]
    encoder = Encoder(lambda value: 7)
    node = crossed(encoder.array(sent), encoder.body)
    assert 7 == node.handle
    assert (sent.dtype, sent.shape, layout_of(sent)) == (
        node.value.dtype,
        node.value.shape,
        layout_of(node.value),
    )
    assert sent.tobytes() == node.value.tobytes()
    assert node.value.flags.writeable


def test_an_array_of_the_other_byte_order_arrives_in_ours() -> None:
    encoder = Encoder()
    arrived = crossed(encoder.array(np.arange(6, dtype=">f4").reshape(2, 3).T), encoder.body).value
    assert (np.dtype("<f4"), "F") == (arrived.dtype, layout_of(arrived))
    assert [[0, 3], [1, 4], [2, 5]] == arrived.tolist()


@pytest.mark.parametrize("name", ["longlong", "ulonglong", "intc"])
def test_an_integer_type_of_c_crosses_as_the_dtype_that_it_is(name: str) -> None:
    encoder = Encoder()
    arrived = crossed(encoder.array(np.ones(2, name)), encoder.body).value
    assert np.dtype(name).str == arrived.dtype.str
    number = crossed(encoder.scalar(np.dtype(name).type(3))).value
    assert (3, np.dtype(name).str) == (number, number.dtype.str)


def test_containers_arrive_with_their_items_in_order() -> None:
    encoder = Encoder()
    one, two = encoder.array(np.arange(3)), encoder.array(np.ones((2, 2)))
    spec = [
        "tuple",
        [one, ["dict", [["a", two], [3, ["list", [["none"]], 5]]], 1], ["remote", "class", 4]],
        2,
    ]
    node = crossed(spec, encoder.body)
    first, second, third = node.value
    assert [0, 1, 2] == first.value.tolist()
    assert ["a", 3] == list(second.value)
    assert [[1, 1], [1, 1]] == second.value["a"].value.tolist()
    assert Node([Node(None)], 5) == second.value[3]
    assert Node(RemoteRef("class", 4), 4) == third
    assert (2, 1) == (node.handle, second.handle)


@given(st.lists(scalars, max_size=5))
def test_the_values_of_a_request_share_one_body(values: list[Any]) -> None:
    encoder = Encoder()
    specs = [encoder.scalar(value) for value in values] + [encoder.array(np.arange(4))]
    *arrived, array = wire.decode_all(specs, encoder.body)
    assert all(
        one is node.value or same_bits(one, node.value) for one, node in zip(values, arrived, strict=True)
    )
    assert [0, 1, 2, 3] == array.value.tolist()


class Number(float):
    pass


class Length(np.float64):
    pass


@pytest.mark.parametrize(
    "value",
    [
        *(Number(1), Length(1), 2**63, -(2**63) - 1, "a" * 1001, "line\n", "\ud800", b"x", [], {}, 1j),
        *(np.float16(1), np.longdouble(1), np.str_("a"), np.datetime64("2020-01-01"), np.ones(1), object()),
    ],
)
def test_what_is_no_plain_scalar_stays(value: Any) -> None:
    assert Encoder().scalar(value) is None


@pytest.mark.parametrize("dtype", ["O", "U3", "S3", "V2", "M8[s]", "f2", "g", "i4,f4"])
def test_arrays_of_other_dtypes_stay(dtype: str) -> None:
    with pytest.raises(TypeError, match="do not cross"):
        Encoder().array(np.zeros(2, dtype))


def test_arrays_of_strings_of_any_length_stay() -> None:
    with pytest.raises(TypeError, match="do not cross"):
        Encoder().array(np.array(["a"], np.dtypes.StringDType()))


@given(
    st.lists(st.tuples(st.dictionaries(st.text(), st.integers()), st.binary(max_size=50)), max_size=4),
    st.data(),
)
def test_a_stream_is_cut_into_the_frames_that_were_sent_however_it_arrives(
    frames: list[tuple[dict[str, Any], bytes]], data: st.DataObject
) -> None:
    stream = b"".join(wire.pack(header, body) for header, body in frames)
    reader, arrived = FrameReader(BODY_LIMIT), []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        reader.feed(stream[:size])
        stream = stream[size:]
        while (frame := reader.frame()) is not None:
            arrived.append((frame.header, frame.body))
    assert frames == arrived


@given(st.binary(max_size=200))
def test_the_reader_never_asks_for_more_than_the_frame_lacks(body: bytes) -> None:
    stream = wire.pack({"a": 1}, body)
    reader = FrameReader(BODY_LIMIT)
    while stream:
        assert 0 < reader.missing() <= len(stream)
        reader.feed(stream[:1])
        stream = stream[1:]
    assert 0 == reader.missing()
    assert Frame({"a": 1}, body) == reader.frame()


def read_all(stream: bytes) -> None:
    """Read as the judge does; anything but ``WireError`` is a fault."""
    reader = FrameReader(BODY_LIMIT)
    try:
        reader.feed(stream)
        while (frame := reader.frame()) is not None:
            wire.decode(frame.header.get("ok"), frame.body)
    except WireError:
        return


@given(st.binary(max_size=300))
def test_arbitrary_bytes_raise_nothing_but_wire_errors(stream: bytes) -> None:
    read_all(stream)
    read_all(wire.MAGIC + stream)


@given(json_values, st.binary(max_size=40))
def test_arbitrary_json_raises_nothing_but_wire_errors(value: Any, body: bytes) -> None:
    text = json.dumps({"ok": value}).encode()
    read_all(wire.PREFIX.pack(wire.MAGIC, len(text), len(body)) + text + body)


@settings(max_examples=200)
@given(near_values, st.binary(max_size=64))
def test_json_that_looks_like_a_value_raises_nothing_but_wire_errors(value: Any, body: bytes) -> None:
    text = json.dumps({"ok": value}).encode()
    read_all(wire.PREFIX.pack(wire.MAGIC, len(text), len(body)) + text + body)


@settings(max_examples=200)
@given(arrays, st.data())
def test_mutated_frames_raise_nothing_but_wire_errors(array: np.ndarray, data: st.DataObject) -> None:
    encoder = Encoder()
    spec = ["tuple", [encoder.array(array), encoder.scalar(1.5), encoder.scalar(np.int8(3))], 1]
    stream = bytearray(wire.pack({"ok": spec}, encoder.body))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(stream) - 1))
        match data.draw(st.sampled_from(["change", "cut", "insert"])):
            case "change":
                stream[place] = data.draw(st.integers(0, 255))
            case "cut":
                del stream[place : place + data.draw(st.integers(1, 10))]
            case "insert":
                stream[place:place] = data.draw(st.binary(max_size=10))
        if not stream:
            return
    read_all(bytes(stream))


def nested(depth: int) -> Any:
    return ["none"] if depth == 0 else ["tuple", [nested(depth - 1)], 1]


ARRAY = ["array", "<f8", [1], "C", None]


@pytest.mark.parametrize(
    ("spec", "body", "message"),
    [
        (ARRAY, b"", "missing"),
        (ARRAY, bytes(7), "missing"),
        (ARRAY, bytes(9), "left over"),
        (["none"], b"x", "left over"),
        (["array", "<f8", [2**40], "C", None], bytes(8), "missing"),
        (["array", "<f8", [2**41], "C", None], bytes(8), "shape"),
        (["array", "<f8", [-1], "C", None], bytes(8), "shape"),
        (["array", "<f8", [True], "C", None], bytes(8), "shape"),
        (["array", "<f8", [1.0], "C", None], bytes(8), "shape"),
        (["array", "<f8", [2**40, 2**40, 0], "C", None], b"", "shape"),
        (["array", "<f8", [2**40, 2**40, 0], "strided", None], b"", "shape"),
        (["array", "<f8", [1] * 65, "C", None], bytes(8), "array"),
        (["array", ">f8", [1], "C", None], bytes(8), "array"),
        (["array", "|O", [1], "C", None], bytes(8), "array"),
        (["array", "<f8", [1], "K", None], bytes(8), "array"),
        (["array", "|b1", [3], "C", None], b"\x00\x02\x01", "boolean"),
        (["number", "|b1", "02"], b"", "boolean"),
        (["number", "<f8", "00"], b"", "number"),
        (["number", "<f8", "zz" * 8], b"", "number"),
        (["number", "|O", "00" * 8], b"", "value"),
        (["float", "wide"], b"", "number"),
        (["float", "0x1p+99999"], b"", "number"),
        (["float", 1.0], b"", "value"),
        (["int", True], b"", "value"),
        (["int", 2**63], b"", "value"),
        (["bool", 1], b"", "value"),
        (["str", "a" * 1001], b"", "value"),
        (["str", "\ud800"], b"", "value"),
        (["remote", "a b", 1], b"", "value"),
        (["remote", "a" * 21, 1], b"", "value"),
        (["remote", "list", -1], b"", "handle"),
        (["remote", "list", True], b"", "handle"),
        (["tuple", [], 2**31], b"", "handle"),
        (["tuple", [], "1"], b"", "handle"),
        (["tuple", {}, 1], b"", "value"),
        (["tuple", [1], 1], b"", "value"),
        (["dict", [["a", ["none"]], ["a", ["none"]]], 1], b"", "item"),
        (["dict", [["a"]], 1], b"", "item"),
        (["dict", [[1.5, ["none"]]], 1], b"", "item"),
        (["dict", [[True, ["none"]]], 1], b"", "item"),
        (["dict", [["a" * 1001, ["none"]]], 1], b"", "item"),
        (nested(13), b"", "deep"),
        (["tuple", [["none"]] * 10_000, 1], b"", "parts"),
        ({}, b"", "value"),
        (None, b"", "value"),
        ([], b"", "value"),
        (["pickle", "x"], b"", "value"),
    ],
)
def test_a_value_that_is_not_exactly_right_is_refused(spec: Any, body: bytes, message: str) -> None:
    with pytest.raises(WireError, match=message):
        wire.decode(spec, body)


def test_values_at_the_limits_are_taken() -> None:
    assert isinstance(wire.decode(nested(12), b"").value, tuple)
    assert 9_999 == len(wire.decode(["tuple", [["none"]] * 9_999, 1], b"").value)
    assert 20_000 == len(wire.decode_all([["none"]] * 20_000, b""))


def frame(header: bytes, body: bytes = b"") -> bytes:
    return wire.PREFIX.pack(wire.MAGIC, len(header), len(body)) + header + body


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[]",
        b"3",
        b"{",
        b'{"a":NaN}',
        b'{"a":Infinity}',
        b"\xff",
        b"[" * 100_000,
        b'{"a":' + b"9" * 5000 + b"}",
    ],
)
def test_a_header_that_is_no_json_object_is_refused(header: bytes) -> None:
    reader = FrameReader(0)
    reader.feed(frame(header))
    with pytest.raises(WireError, match="the header"):
        reader.frame()


@pytest.mark.parametrize(
    ("prefix", "message"),
    [
        (wire.PREFIX.pack(b"AGW0", 2, 0), "not a frame"),
        (wire.PREFIX.pack(wire.MAGIC, wire.HEADER_LIMIT + 1, 0), "too large"),
        (wire.PREFIX.pack(wire.MAGIC, 2, BODY_LIMIT + 1), "too large"),
        (wire.PREFIX.pack(wire.MAGIC, 2, 2**64 - 1), "too large"),
    ],
)
def test_a_frame_is_refused_by_its_first_bytes(prefix: bytes, message: str) -> None:
    reader = FrameReader(BODY_LIMIT)
    with pytest.raises(WireError, match=message):
        reader.feed(prefix)


def test_what_is_made_is_not_much_larger_than_what_has_arrived() -> None:
    claims = [
        ["array", "<f8", [2**30], "C", None],
        ["array", "<f8", [2**30], "strided", None],
        ["array", "<f8", [2**20, 2**20, 0], "strided", None],
        ["array", "<f8", [0, 2**40], "strided", None],
    ]
    tracemalloc.start()
    for spec in claims:
        try:
            wire.decode(spec, bytes(8) if math.prod(spec[2]) else b"")
        except WireError:
            continue
    reader = FrameReader(2**40)
    reader.feed(wire.PREFIX.pack(wire.MAGIC, 10, 2**39))
    assert reader.frame() is None
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**20
