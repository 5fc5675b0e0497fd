"""Values that belong to others: those of the program as it was written, and the values of gradients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from sdyopt.analysis.figures.source_locations import Phase, source_location
from sdyopt.analysis.sharding_record.record import TrackedValues
from sdyopt.analysis.trials.annotation_edits import Change, place_of
from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.record import Subject


@dataclass(frozen=True)
class Originals:
    """The program as it was written: `module`, and the values that those after the passes come from."""

    module: Op
    values: TrackedValues
    values_before: Mapping[Value, Value]

    def value(self, value: Value) -> OpResult | BlockArgument | None:
        """The value of the written program that a value was; None if a pass created it."""
        for each in (value, *self.values.predecessors(value)):
            for original in self.values.originals(each):
                for earlier in (original, *self.values.predecessors(original)):
                    found = self.values_before.get(earlier)
                    if isinstance(found, OpResult | BlockArgument):
                        return found
        return None

    def place(self, value: Value) -> Subject | None:
        """The place where the sharding of a value is written: at the constraint on it, or at itself."""
        found = self.value(value)
        return None if found is None else place_of(found)


class Gradients:
    """Relates the values of a program to their gradients.

    JAX gives an operation of the backward pass the line of the one that it differentiates. What it takes in
    the type of that result is the gradient of the result, and what it computes in the type of an operand is
    that of the operand.
    """

    def __init__(self, module: Op) -> None:
        self._module = module

    def gradient(self, value: OpResult) -> OpResult | None:
        """The gradient of a value. A with_sharding_constraint of JAX on the value constrains it, too."""
        if value.op.regions or _is_backward(value.op):
            return None
        for op in self._ops.get((_line(value.op), True), ()):
            for operand in op.operands:
                is_alike = isinstance(operand, OpResult) and operand.type is value.type
                if is_alike and isinstance(operand, OpResult) and _is_backward(operand.op):
                    return operand
        return None

    def constrained(self, changes: Iterable[Change]) -> tuple[Change, ...]:
        """Changes, with those of the gradients that new constraints on values of JAX constrain, too."""
        found = {change.subject: change for change in changes}
        for subject, change in list(found.items()):
            if change.is_new_constraint and isinstance(subject, OpResult):
                gradient = self.gradient(subject)
                if gradient is not None:
                    found.setdefault(gradient, change._replace(subject=gradient))
        return tuple(found.values())

    def value(self, gradient: Value) -> OpResult | BlockArgument | None:
        """The value whose gradient this is; None if it is none, or that of one of several."""
        if not isinstance(gradient, OpResult) or not _is_backward(gradient.op):
            return None
        found = {
            operand: None
            for op in self._ops.get((_line(gradient.op), False), ())
            for operand in op.operands
            if operand.type is gradient.type and isinstance(operand, OpResult | BlockArgument)
        }
        return next(iter(found)) if len(found) == 1 else None

    @cached_property
    def _ops(self) -> dict[tuple[object, bool], list[Op]]:
        """The operations of a line and column, by whether they are of a backward pass."""
        found: dict[tuple[object, bool], list[Op]] = {}
        for op in self._with_lines():
            found.setdefault((_line(op), _is_backward(op)), []).append(op)
        return found

    def _with_lines(self) -> Iterator[Op]:
        for op in self._module.walk():
            if (not op.regions or isinstance(op, ScatterOp)) and source_location(op.location).line:
                yield op


def _line(op: Op) -> tuple[object, ...]:
    return source_location(op.location)[:3]


def _is_backward(op: Op) -> bool:
    return source_location(op.location).phase is Phase.BACKWARD
