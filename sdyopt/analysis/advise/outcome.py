"""The values of a program after passes: their shardings after propagation, and the bytes sent for them.

Passes keep locations, so an operation of the program after the passes is found by that of the original.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

from sdyopt.analysis.advise.roles import Role, ValueClass
from sdyopt.analysis.figures.causes import consumers, producer
from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.figures.product_collectives import COLLECTIVES
from sdyopt.base.diagnostics.location import UnknownLoc
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import LazyLocation


class Outcome:
    """A program after the passes, which no longer changes, with its report."""

    def __init__(self, module: Op, report: Report) -> None:
        self._module = module
        self._report = report

    def sharding(self, of_class: ValueClass) -> TensorSharding | None:
        """The sharding of the first value of a class that still exists; None if none is found."""
        for op in of_class.ops:
            for found in self._results.get((op.lazy_location, of_class.shape), ()):
                return found
        return None

    def wire_bytes(self, role: Role) -> Fraction:
        """Wire bytes of the collectives on values of a role, or on those that it is computed with."""
        locations = {op.lazy_location: None for each in role.classes for op in each.ops}
        for each in role.classes:
            for place in each.arguments:
                locations |= {user.lazy_location: None for user in place.subject.users}  # type: ignore[union-attr]
        return sum((self._blamed.get(location, Fraction(0)) for location in locations), Fraction(0))

    @cached_property
    def _results(self) -> dict[tuple[LazyLocation, tuple[int, ...]], list[TensorSharding]]:
        found: dict[tuple[LazyLocation, tuple[int, ...]], list[TensorSharding]] = {}
        for op in self._module.walk():
            if isinstance(op, CollectiveOp):
                continue
            for result in op.results:
                if isinstance(result.type, RankedTensor) and (sharding := sharding_of(result)) is not None:
                    found.setdefault((op.lazy_location, tuple(result.type.shape)), []).append(sharding)
        return found

    @cached_property
    def _blamed(self) -> dict[LazyLocation, Fraction]:
        """Wire bytes by the location of an operation before or after a collective."""
        found: dict[LazyLocation, Fraction] = {}
        ops = (op for op in self._module.walk() if isinstance(op, COLLECTIVES))
        for op, each in zip(ops, self._report.collectives, strict=True):
            sent = (each.wire_bytes or Fraction(0)) * (1 if each.times is None else each.times.high)
            if not sent or not isinstance(op, CollectiveOp):
                continue
            made = producer(op).defining_op
            around = [*([] if made is None else [made]), *consumers(op)[:4]]
            for location in dict.fromkeys(near.lazy_location for near in around):
                if not isinstance(location, UnknownLoc):
                    found[location] = found.get(location, Fraction(0)) + sent
        return found
