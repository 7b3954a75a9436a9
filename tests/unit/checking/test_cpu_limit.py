import contextlib
import math
import signal
import threading
import time

import pytest

from autograder.checking.cpu_limit import CpuTimeExceeded, cpu_limit


def burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_an_endless_loop_is_broken_off() -> None:
    with pytest.raises(CpuTimeExceeded), cpu_limit(0.05):
        burn(math.inf)


def test_code_that_swallows_every_exception_is_noticed_when_it_returns() -> None:
    def stubborn() -> None:
        with contextlib.suppress(BaseException):
            burn(math.inf)
        burn(0.05)

    with pytest.raises(CpuTimeExceeded), cpu_limit(0.05):
        stubborn()


def test_waiting_uses_no_time() -> None:
    with cpu_limit(0.05):
        time.sleep(0.1)


def test_without_a_limit_nothing_happens() -> None:
    with cpu_limit(None):
        burn(0.01)


def test_the_signal_handler_is_put_back() -> None:
    before = signal.getsignal(signal.SIGPROF)
    with cpu_limit(10):
        assert signal.getsignal(signal.SIGPROF) is not before
    assert signal.getsignal(signal.SIGPROF) is before
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_in_another_thread_the_time_is_looked_at_in_the_end() -> None:
    caught: list[BaseException] = []

    def run() -> None:
        try:
            with cpu_limit(0.02):
                burn(0.05)
        except CpuTimeExceeded as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert len(caught) == 1
