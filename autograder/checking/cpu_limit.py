"""A limit of CPU seconds on code that runs in this very process.

Good enough for code that means no harm: an endless loop is broken off where the system has profiling
timers (Linux, macOS) and the code runs in the main thread; elsewhere, and where the code swallows every
exception, a call that took too long is noticed when it returns. Submissions are held to their limits from
outside, in ``sandbox``.
"""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator


class CpuTimeExceeded(BaseException):
    """The time is used up; no ``Exception``, so that ``except Exception`` in the code does not hide it."""


@contextlib.contextmanager
def cpu_limit(seconds: float | None) -> Iterator[None]:
    """Raise ``CpuTimeExceeded`` in the body once it has used ``seconds`` of CPU time; None means no limit."""
    if seconds is None:
        yield
        return
    start = time.process_time()
    timed = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if timed:
        previous = signal.signal(signal.SIGPROF, _break_off)
        # The timer goes off once and not again: nothing can be raised any more when the body has been left.
        signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        if timed:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, signal.SIG_DFL if previous is None else previous)
    if time.process_time() - start > seconds:
        raise CpuTimeExceeded


def _break_off(signal_number: int, frame: object) -> None:
    raise CpuTimeExceeded
