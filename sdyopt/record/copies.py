"""Recording of shardings that a pass copies from one value to another before propagation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Protocol

from sdyopt.dialects.sdy.sharding import TensorSharding
from sdyopt.ir.operation import Op
from sdyopt.ir.value import Value


class Means(Enum):
    """Why a pass other than propagation gives a value a sharding."""

    CONSTRAINT = "its sharding constraint"
    MANUAL_INPUT = "the input sharding of a manual computation"
    GROUP = "its sharding group"
    CALL = "the result sharding of the called function"


class CopyRecorder(Protocol):
    """Records copies of shardings."""

    def copied(self, op: Op, target: Value, sharding: TensorSharding, means: Means) -> None:
        """`target` is about to get a sharding from the annotation on `op`."""


_active: list[CopyRecorder] = []


@contextmanager
def recording_copies(recorder: CopyRecorder) -> Iterator[None]:
    """Reports the copies in the `with` block to a recorder."""
    _active.append(recorder)
    try:
        yield
    finally:
        _active.pop()


def record_copy(op: Op, target: Value, sharding: TensorSharding, means: Means) -> None:
    """Records that `target` is about to get a sharding from the annotation on `op`."""
    if _active:
        _active[-1].copied(op, target, sharding, means)
