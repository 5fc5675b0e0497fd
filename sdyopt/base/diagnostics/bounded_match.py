"""Regular expressions of the input, matched within a time limit.

A backtracking engine can take exponential time for an expression such as `(a+)+$`. Python's engine handles
signals while it matches, so a timer interrupts it. Outside the main thread, and where the system has no such
timer, there is no limit.
"""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class MatchTime:
    """The remaining seconds for all matches that share it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def found(self, match: Callable[[str], re.Match[str] | None], text: str) -> bool:
        """Whether a method of a pattern, such as `search`, finds a match in a text.

        Raises TimeoutError when no time remains.
        """
        if self._seconds <= 0:
            raise TimeoutError
        start = time.monotonic()
        try:
            with _interrupted_after(self._seconds):
                return match(text) is not None
        finally:
            self._seconds -= time.monotonic() - start


@contextmanager
def _interrupted_after(seconds: float) -> Iterator[None]:
    """Raises TimeoutError in the block after a number of seconds."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGALRM, _raise_timeout)
    timer = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)


def _raise_timeout(number: int, frame: FrameType | None) -> None:
    raise TimeoutError
