"""Stack traces of diagnostics, for `--mlir-print-stacktrace-on-diagnostic`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_is_recording = [False]
# Functions between the code that finds a problem and this module.
_CONSTRUCTORS = ("__init__", "_init", "at", "error", "op_error", "unprefixed_error", "warn")


@contextmanager
def recording_traces() -> Iterator[None]:
    """Records a stack trace for each diagnostic that is created in the `with` block."""
    _is_recording.append(True)
    try:
        yield
    finally:
        _is_recording.pop()


def current_trace() -> str:
    """The stack of the caller, innermost call first; empty unless traces are recorded."""
    if not _is_recording[-1]:
        return ""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_name in _CONSTRUCTORS:
        frame = frame.f_back
    lines: list[str] = []
    while frame is not None:
        code = frame.f_code
        lines.append(f" #{len(lines)} {code.co_qualname} ({code.co_filename}:{frame.f_lineno})")
        frame = frame.f_back
    return "\n".join(lines)
