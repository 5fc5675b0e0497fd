"""Processes that end with the one that started them, even if a signal that cannot be handled ends that."""

from __future__ import annotations

import os
from threading import Thread
from time import sleep

_SECONDS = 0.25


def end_with(parent: int) -> None:
    """Ends this process soon after `parent`, the process that started it, has ended."""
    Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    # The parent of an orphan is another process.
    while os.getppid() == parent:
        sleep(_SECONDS)
    os._exit(1)
