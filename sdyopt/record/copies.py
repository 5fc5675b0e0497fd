"""Recording of shardings that passes other than propagation set.

Before propagation, they copy annotations to values; after it, they truncate shardings of inputs and outputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Protocol

from sdyopt.dialects.func import FuncOp
from sdyopt.dialects.sdy.sharding import TensorSharding
from sdyopt.ir.operation import Op
from sdyopt.ir.value import Value


class Means(Enum):
    """Why a pass other than propagation gives a value a sharding."""

    CONSTRAINT = "its sharding constraint"
    MANUAL_INPUT = "the input sharding of a manual computation"
    GROUP = "its sharding group"
    CALL = "the result sharding of the called function"


class Truncation(Enum):
    """Why a pass truncates the sharding of an input or output."""

    NOT_DIVISIBLE = "the sizes of the axes do not divide the dimension"
    SUB_AXIS = "inputs and outputs have no sub-axes"


class CopyRecorder(Protocol):
    """Records copies of shardings, and truncated ones."""

    def copied(self, op: Op, target: Value, sharding: TensorSharding, means: Means) -> None:
        """`target` is about to get a sharding from the annotation on `op`."""

    def truncated(
        self, function: FuncOp, index: int, is_result: bool, sharding: TensorSharding, why: Truncation
    ) -> None:
        """An argument or result of a function gets a prefix of its sharding."""

    def removed(self, before: TensorSharding, after: TensorSharding) -> None:
        """Axes of size one are removed from every sharding that is equal to `before`."""


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


def record_truncation(
    function: FuncOp, index: int, is_result: bool, sharding: TensorSharding, why: Truncation
) -> None:
    """Records that an argument or result of a function gets a prefix of its sharding."""
    if _active:
        _active[-1].truncated(function, index, is_result, sharding, why)


def record_removal(before: TensorSharding, after: TensorSharding) -> None:
    """Records that axes of size one are removed from a sharding, wherever it is."""
    if _active and after is not before:
        _active[-1].removed(before, after)
