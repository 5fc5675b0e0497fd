"""The settings of the Python interpreter while a program is processed."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# Sufficient for programs nested as deeply as the parser accepts.
RECURSION_LIMIT = 10_000


@contextmanager
def interpreter_settings() -> Iterator[None]:
    """Raises the recursion limit, lifts the limit on digits, and disables cyclic garbage collection.

    Few of the many objects of a run become garbage before its end.
    """
    was_enabled, limit = gc.isenabled(), sys.getrecursionlimit()
    gc.disable()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    # The parser limits the number of digits that it reads; a folded constant may have more.
    digits = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(digits)
        sys.setrecursionlimit(limit)
        if was_enabled:
            gc.enable()
