"""The judge's end of a socket, against another end that does all it can to annoy."""

import array
import os
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from autograder.sandbox.channel import Channel, ChannelClosed, OutOfTime, TimeLimit, pair
from autograder.sandbox.worker import wire
from autograder.sandbox.worker.processes import Process

FRAME = wire.pack({"ok": 1}, b"body")


@pytest.fixture
def ends() -> Iterator[tuple[Channel, socket.socket]]:
    channel, far = pair(body_limit=1000)
    yield channel, far
    channel.close()
    far.close()


def in_background(action: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=action)
    thread.start()
    return thread


def test_a_frame_arrives_as_it_was_sent(ends: tuple[Channel, socket.socket]) -> None:
    channel, far = ends
    far.sendall(FRAME)
    assert wire.Frame({"ok": 1}, b"body") == channel.receive(TimeLimit(1))


def test_the_other_end_hanging_up_is_told(ends: tuple[Channel, socket.socket]) -> None:
    channel, far = ends
    far.sendall(FRAME[:10])
    far.close()
    with pytest.raises(ChannelClosed):
        channel.receive(TimeLimit(1))
    with pytest.raises(ChannelClosed):
        channel.send({}, limit=TimeLimit(1))


def test_silence_ends_when_the_time_is_up(ends: tuple[Channel, socket.socket]) -> None:
    channel, _ = ends
    start = time.monotonic()
    with pytest.raises(OutOfTime) as raised:
        channel.receive(TimeLimit(0.1))
    assert raised.value.by_clock
    assert time.monotonic() - start < 1


def test_a_trickle_of_bytes_buys_no_time(ends: tuple[Channel, socket.socket]) -> None:
    channel, far = ends
    stop = threading.Event()

    def trickle() -> None:
        far.sendall(wire.PREFIX.pack(wire.MAGIC, 900, 0))
        while not stop.wait(0.005):
            far.sendall(b" ")

    thread = in_background(trickle)
    start = time.monotonic()
    with pytest.raises(OutOfTime):
        channel.receive(TimeLimit(0.2))
    assert time.monotonic() - start < 1
    stop.set()
    thread.join()


def test_a_reader_that_takes_little_at_a_time_buys_no_time(ends: tuple[Channel, socket.socket]) -> None:
    channel, far = ends

    def sip() -> None:
        while far.recv(4096):
            pass

    thread = in_background(sip)
    with pytest.raises(OutOfTime):
        channel.send({}, bytes(200_000_000), limit=TimeLimit(0.05))
    channel.close()
    thread.join()


def test_a_reader_that_takes_nothing_does_not_block(ends: tuple[Channel, socket.socket]) -> None:
    channel, _ = ends
    with pytest.raises(OutOfTime):
        channel.send({}, bytes(5_000_000), limit=TimeLimit(0.2))


def test_a_large_frame_is_sent_in_as_many_parts_as_it_takes(ends: tuple[Channel, socket.socket]) -> None:
    channel, far = ends
    body = os.urandom(3_000_000)
    received = bytearray()

    def read() -> None:
        while len(received) < len(wire.pack({"a": 1}, body)):
            received.extend(far.recv(1 << 16))

    thread = in_background(read)
    channel.send({"a": 1}, body, limit=TimeLimit(10))
    thread.join()
    assert wire.pack({"a": 1}, body) == bytes(received)


def test_sockets_travel_with_the_first_byte_and_only_once(ends: tuple[Channel, socket.socket]) -> None:
    channel, far = ends
    with socket.socket() as sent:
        thread = in_background(
            lambda: channel.send({"a": 1}, bytes(2_000_000), limit=TimeLimit(10), sockets=[sent])
        )
        data, first, _, _ = socket.recv_fds(far, 10, 5)
        more: list[int] = []
        size = len(data)
        while size < len(wire.pack({"a": 1}, bytes(2_000_000))):
            data, descriptors, _, _ = socket.recv_fds(far, 1 << 16, 5)
            size += len(data)
            more += descriptors
        thread.join()
    assert (1, []) == (len(first), more)
    os.close(first[0])


@pytest.mark.parametrize("sent", [b"nonsense and more", wire.PREFIX.pack(wire.MAGIC, 2, 1001)])
def test_what_is_no_frame_is_refused(ends: tuple[Channel, socket.socket], sent: bytes) -> None:
    channel, far = ends
    far.sendall(sent)
    with pytest.raises(wire.WireError):
        channel.receive(TimeLimit(1))


def test_a_header_that_the_other_end_would_refuse_is_not_sent(ends: tuple[Channel, socket.socket]) -> None:
    channel, _ = ends
    with pytest.raises(ValueError, match="large ones must be arrays"):
        channel.send({"values": ["x" * 2**20]}, limit=TimeLimit(1))


def test_descriptors_that_are_sent_to_the_judge_are_dropped(
    ends: tuple[Channel, socket.socket], open_descriptors: Callable[[], int]
) -> None:
    channel, far = ends
    before = open_descriptors()
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
    for _ in range(3):
        far.sendmsg([FRAME], rights)
        channel.receive(TimeLimit(1))
    far.sendmsg([FRAME], rights)
    channel.greet(TimeLimit(1), os.getpid())
    assert before + 1 == open_descriptors()  # the one of the process that was greeted


class Child:
    """A Python process that runs some code with the far end as ``link``."""

    def __init__(self, far: socket.socket, code: str):
        program = f"import os, socket, time\nlink = socket.socket(fileno={far.fileno()})\n{code}"
        self.process = subprocess.Popen([sys.executable, "-S", "-c", program], pass_fds=[far.fileno()])
        far.close()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def child(ends: tuple[Channel, socket.socket]) -> Iterator[Callable[[str], Child]]:
    children: list[Child] = []

    def start(code: str) -> Child:
        children.append(Child(ends[1], code))
        return children[-1]

    yield start
    for one in children:
        one.end()


HELLO = f"link.sendall({wire.pack({'hello': True})!r})\n"


def test_the_kernel_says_who_is_at_the_other_end(
    ends: tuple[Channel, socket.socket], child: Callable[[str], Child]
) -> None:
    pid = child(HELLO + "time.sleep(60)").process.pid
    assert pid == ends[0].greet(TimeLimit(10), os.getpid()).pid


def test_a_process_of_somebody_else_is_not_greeted(
    ends: tuple[Channel, socket.socket], child: Callable[[str], Child]
) -> None:
    child(HELLO + "time.sleep(60)")
    with subprocess.Popen(["sleep", "60"]) as other:
        with pytest.raises(ChannelClosed, match="gone"):
            ends[0].greet(TimeLimit(10), other.pid)
        other.kill()


def test_the_end_of_the_process_is_noticed_where_another_holds_its_socket(
    ends: tuple[Channel, socket.socket], child: Callable[[str], Child]
) -> None:
    child(HELLO + "if os.fork(): os._exit(0)\ntime.sleep(2)")
    start = time.monotonic()
    ends[0].greet(TimeLimit(10), os.getpid())
    with pytest.raises(ChannelClosed, match="has ended"):
        ends[0].receive(TimeLimit(10))
    assert time.monotonic() - start < 1.5


def test_the_last_words_of_a_process_are_heard(
    ends: tuple[Channel, socket.socket], child: Callable[[str], Child]
) -> None:
    started = child(HELLO + f"link.sendall({FRAME!r})")
    ends[0].greet(TimeLimit(10), os.getpid())
    os.waitid(os.P_PID, started.process.pid, os.WEXITED | os.WNOWAIT)
    assert b"body" == ends[0].receive(TimeLimit(1)).body


def test_a_greeting_is_given_up_when_the_parent_ends(ends: tuple[Channel, socket.socket]) -> None:
    with subprocess.Popen(["true"]) as parent:
        process = Process(parent.pid)
        with pytest.raises(ChannelClosed, match="has ended"):
            ends[0].greet(TimeLimit(10), os.getpid(), parent=process)
        process.close()


def test_cpu_time_and_wall_time_are_told_apart(
    ends: tuple[Channel, socket.socket], child: Callable[[str], Child]
) -> None:
    child(HELLO + "while True: pass")
    process = ends[0].greet(TimeLimit(10), os.getpid())
    limit = TimeLimit(10, 0.1, process)
    with pytest.raises(OutOfTime) as raised:
        ends[0].receive(limit)
    assert not raised.value.by_clock
    assert 0.1 < limit.cpu_used() < 1
    assert limit.wall_used() < 5


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    """More than a thousand are open, as far as this machine allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2000:
        pytest.skip(f"this machine allows no more than {hard} descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2000), hard))
    many = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    yield
    for one in many:
        os.close(one)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_descriptors")
def test_more_than_a_thousand_descriptors_are_no_hindrance() -> None:
    """``select`` would fail there."""
    channel, far = pair(10)
    far.sendall(wire.pack({"a": 1}))
    assert {"a": 1} == channel.receive(TimeLimit(1)).header
    channel.close()
    far.close()
